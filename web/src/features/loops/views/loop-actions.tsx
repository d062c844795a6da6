/** Actions on loops: resume, cancel. */
import { RotateCcw, Square } from "lucide-react";
import { Suspense, useState } from "react";

import { messageOf } from "@/api/errors";
import type { LoopDetail, LoopStatus } from "@/api/types";
import { useOpenLoop } from "@/routing/use-open-loop";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageActions } from "@/ui/page-actions";

import { useCancelLoop, useResumeLoop } from "../actions";

const RESUMABLE: readonly LoopStatus[] = ["FAILED", "CANCELLED", "TIMED_OUT"];

/** Resumes a finished loop, and opens the new loop that continues it. */
export function useResume(
  orgSlug: string,
  { id, document }: Pick<LoopDetail, "id" | "document">,
  onResumed?: () => void,
) {
  const { mutate, isPending, error } = useResumeLoop(id, onResumed);
  const openLoop = useOpenLoop(orgSlug, document?.slug);
  return { start: (prompt?: string) => mutate(prompt, openLoop()), isPending, error };
}

interface ResumeButtonProps {
  loop: LoopDetail;
  orgSlug: string;
}

export function ResumeButton(props: ResumeButtonProps) {
  if (!RESUMABLE.includes(props.loop.status)) return null;
  return (
    // The page stays visible until the idempotency key is loaded.
    <Suspense
      fallback={
        <Button variant="primary" busy>
          Resume
        </Button>
      }
    >
      <LoadedResumeButton {...props} />
    </Suspense>
  );
}

function LoadedResumeButton({ loop, orgSlug }: ResumeButtonProps) {
  const resume = useResume(orgSlug, loop);
  return (
    <>
      <Button data-due variant="primary" busy={resume.isPending} onClick={() => resume.start()}>
        {!resume.isPending && <RotateCcw aria-hidden />}
        Resume
      </Button>
      {resume.error && <ActionError title="The loop could not be resumed" error={resume.error} />}
    </>
  );
}

/** Must not be placed where a start button was: the second click of a double click would hit it. */
export function CancelButton({
  loopId,
  verb = "Cancel",
}: {
  loopId: string;
  verb?: "Cancel" | "Stop";
}) {
  const [confirming, setConfirming] = useState(false);
  const cancel = useCancelLoop();
  const label = `${verb} loop`;
  usePageActions([{ label, run: () => setConfirming(true) }]);
  return (
    <>
      <Button
        variant="danger"
        size="sm"
        className="max-sm:ml-auto"
        busy={cancel.isPending}
        onClick={() => setConfirming(true)}
      >
        <Square aria-hidden />
        {label}
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={`${verb} this loop?`}
        cancel="Keep running"
        confirm={label}
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate(loopId, { onSuccess: () => setConfirming(false) })}
      >
        <p>
          The assistant and all processes that it started are terminated. Uncommitted work remains
          in the worktree on the machine.
        </p>
        {cancel.error && <p className="mt-2 text-bad">{messageOf(cancel.error)}</p>}
      </ConfirmDialog>
    </>
  );
}
