import { ApiError, messageOf } from "@/api/errors";

import { Button } from "./button";
import { EmptyState } from "./panel";

/** A page or section that could not be loaded: what happened, and what to do about it. */
export function ErrorView({
  error,
  onRetry,
  isPage,
}: {
  error: unknown;
  onRetry?: () => void;
  isPage?: boolean;
}) {
  const { title, text } = explain(error);
  return (
    <div role="alert">
      <EmptyState
        title={title}
        isPage={isPage ?? false}
        action={
          onRetry && (
            <Button onClick={onRetry} look="plain">
              Try again
            </Button>
          )
        }
      >
        {text}
      </EmptyState>
    </div>
  );
}

function explain(error: unknown): { title: string; text: string } {
  if (!(error instanceof ApiError))
    return { title: "Something went wrong", text: messageOf(error) };
  switch (error.status) {
    case 0:
      return {
        title: "Loopgate does not answer",
        text: "Check the terminal where `loopgate up` runs. This page goes on by itself once it is back.",
      };
    case 403:
      return {
        title: "You may not see this",
        text: "It belongs to somebody else, or your role does not allow it.",
      };
    case 404:
      return {
        title: "Not found",
        text: `${error.message}. It may have been deleted, or the address is mistyped.`,
      };
    case 501:
      return { title: "Not available yet", text: "This version of Loopgate does not do this yet." };
    default:
      return { title: "The server could not answer", text: error.message };
  }
}
