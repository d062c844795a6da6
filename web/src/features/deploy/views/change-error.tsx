import { messageOf } from "@/api/errors";
import { GatewayError } from "@/gateway/local-gateway";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { CommandLine } from "@/ui/command-line";
import { Notice } from "@/ui/panel";

import { consentCommand } from "../model/deployment";

/** Error of a start or stop: with the command that consents, if that is what the machine requires. */
export function ChangeError({
  title,
  error,
  machineName,
  isBusy,
  onRetry,
}: {
  title: string;
  error: unknown;
  machineName: string | undefined;
  isBusy: boolean;
  onRetry: () => void;
}) {
  const isRefused = error instanceof GatewayError && error.code === "command_not_trusted";
  const consent = isRefused ? consentCommand(messageOf(error)) : undefined;
  if (consent === undefined) return <ActionError title={title} error={error} />;
  return (
    <div className="order-last min-w-0 basis-full">
      <Notice tone="warn" title="The commands need the consent of the owner of the machine">
        <div className="space-y-2">
          <p>
            They are part of the repository, and run with the account of that person. Review them,
            then run this on {machineName === undefined ? "the machine" : <bdi>{machineName}</bdi>}:
          </p>
          <CommandLine text={consent} label="Copy the command" />
          <Button size="sm" busy={isBusy} onClick={onRetry}>
            Try again
          </Button>
        </div>
      </Notice>
    </div>
  );
}
