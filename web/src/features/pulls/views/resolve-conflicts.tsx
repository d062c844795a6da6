import { useState } from "react";

import type { Loop } from "@/api/types";
import { isActive } from "@/model/status";
import { useOpenLoop } from "@/routing/use-open-loop";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";

import { type OpenedPull, useResolveConflicts } from "../queries";

/** Starts a loop that merges the base branch and resolves the conflicts. */
export function ResolveConflicts({
  pull,
  loop,
  orgSlug,
}: {
  pull: OpenedPull;
  /** Newest loop of the change request that changed code, whose work the new loop continues. */
  loop: Loop | undefined;
  orgSlug: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const start = useResolveConflicts(loop);
  const openLoop = useOpenLoop(orgSlug, loop?.document?.slug);
  if (!loop) return null;
  const isRunning = isActive(loop.status);
  return (
    <>
      <Button
        variant="primary"
        disabled={isRunning}
        title={isRunning ? "A loop is working on this change request" : undefined}
        onClick={() => setIsOpen(true)}
      >
        Resolve conflicts
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title={`Resolve the conflicts of ${pull.fullName} #${pull.number}`}
        confirm="Start loop"
        variant="primary"
        busy={start.isPending}
        onConfirm={() => start.mutate(pull, openLoop())}
      >
        <p>
          One loop merges <code>{pull.baseBranch}</code> into the branch, resolves the conflicts and
          pushes to the same pull request.
        </p>
        {start.error && <ActionError title="The loop could not be started" error={start.error} />}
      </ConfirmDialog>
    </>
  );
}
