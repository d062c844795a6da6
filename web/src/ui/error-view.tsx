import type { ReactNode } from "react";

import { messageOf, statusOf } from "@/api/errors";

import { Button } from "./button";
import { EmptyState } from "./panel";

/** Error of a page or section that could not be loaded, with advice. */
export function ErrorView({
  error,
  onRetry,
  home,
  isPage,
}: {
  error: unknown;
  onRetry?: () => void;
  /** Link to a page that the person may see; shown if another attempt is unlikely to help. */
  home?: ReactNode;
  isPage?: boolean;
}) {
  const { title, text } = explain(error);
  return (
    <div role="alert">
      <EmptyState
        title={title}
        isPage={isPage ?? false}
        action={
          <>
            {onRetry && (
              <Button onClick={onRetry} variant="plain">
                Try again
              </Button>
            )}
            {[403, 404].includes(statusOf(error) ?? 0) && home}
          </>
        }
      >
        {text}
      </EmptyState>
    </div>
  );
}

function explain(error: unknown): { title: string; text: string } {
  const message = messageOf(error);
  const status = statusOf(error);
  switch (status) {
    case undefined:
      return { title: "Something went wrong", text: message };
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
        text: `${sentence(message)} It may have been deleted, or the address is wrong.`,
      };
    case 501:
      return { title: "Not supported", text: "This version of Loopgate does not support this." };
    default:
      return {
        title: "The request failed",
        text:
          status < 500
            ? message
            : `${sentence(message)} Try again. If it fails again, read the log in the terminal in which Loopgate runs.`,
      };
  }
}

/** Messages of the server have no full stop if they are one sentence. */
const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);
