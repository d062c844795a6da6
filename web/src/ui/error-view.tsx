import { ApiError, messageOf } from "@/api/errors";

import { Button } from "./button";
import { EmptyState } from "./panel";

/** Error of a page or section that could not be loaded, with advice. */
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
            <Button onClick={onRetry} variant="plain">
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
        title: "Loopgate is not responding",
        text: "Check the terminal in which Loopgate runs, then try again.",
      };
    case 403:
      return {
        title: "You don't have access",
        text: "This belongs to another person, or your role does not include it. An administrator of the organization can change your role.",
      };
    case 404:
      return {
        title: "Not found",
        text: `${error.message}. It may have been deleted, or the address is wrong.`,
      };
    case 501:
      return { title: "Not supported", text: "This version of Loopgate does not support this." };
    default:
      return { title: "The request failed", text: error.message };
  }
}
