import { useState } from "react";

import type { Loop } from "@/api/types";
import { isActive } from "@/model/status";
import { useOpenLoop } from "@/routing/use-open-loop";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";

import { type ChosenThread, threadPlace } from "../model/threads";
import { useAddress } from "../queries";

/** Starts one loop that receives the chosen comments and answers each of them. */
export function AddressComments({
  chosen,
  loop,
  orgSlug,
  onStarted,
}: {
  chosen: readonly ChosenThread[];
  /** Newest loop of the change request that changed code, whose work the new loop continues. */
  loop: Loop | undefined;
  orgSlug: string;
  onStarted: () => void;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const start = useAddress(loop);
  const openLoop = useOpenLoop(orgSlug, loop?.document?.slug);
  if (!loop) return null;
  const isRunning = isActive(loop.status);
  const comments = chosen.length === 1 ? "1 comment" : `${chosen.length} comments`;
  const send = () => {
    const opening = openLoop();
    start.mutate(chosen, {
      ...opening,
      onSuccess: (loopId) => {
        onStarted();
        return opening.onSuccess(loopId);
      },
    });
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button
        variant="primary"
        disabled={chosen.length === 0 || isRunning}
        onClick={() => setIsOpen(true)}
      >
        Address comments{chosen.length > 0 && ` (${chosen.length})`}
      </Button>
      <p className="text-sm text-ink-3">
        {isRunning
          ? "A loop is working on this change request. Comments can be addressed when it has ended."
          : "Choose the comments that a loop should address."}
      </p>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title={`Address ${comments}`}
        confirm="Start loop"
        variant="primary"
        busy={start.isPending}
        onConfirm={send}
      >
        <p>
          One loop receives all of them. It changes the code or says why not, and pushes to the same
          pull request. Its answers to comments on files are shown with the changes.
        </p>
        <ul className="mt-2 list-disc space-y-1 pl-5 text-sm">
          {chosen.map(({ pull, thread }) => (
            <li key={thread.id} dir="auto" className="wrap-anywhere">
              {pull.fullName} #{pull.number}: {threadPlace(thread)}
            </li>
          ))}
        </ul>
        {start.error && <ActionError title="The loop could not be started" error={start.error} />}
      </ConfirmDialog>
    </div>
  );
}
