/** What a person can do with a loop or a plan. */
import { useNavigate } from "@tanstack/react-router";
import { Play, RotateCcw, Square } from "lucide-react";
import { useState } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { useResumeLoop, useRunDocument, useStopLoop } from "@/api/queries";
import type { LoopDetail, LoopStatus, RepoRef } from "@/api/types";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Notice } from "@/ui/panel";

/** Goes to the loop that was started; also when the same loop already runs. */
function useOpenLoop(orgSlug: string) {
  const navigate = useNavigate();
  const open = (loopId: string) =>
    void navigate({ to: "/$orgSlug/loops/$loopId", params: { orgSlug, loopId } });
  return {
    onSuccess: open,
    onError: (error: unknown) => {
      if (error instanceof ApiError && typeof error.data.loopId === "string")
        open(error.data.loopId);
    },
  };
}

/** Carries out a plan. */
export function ExecuteButton({
  documentId,
  repo,
  orgSlug,
}: {
  documentId: string;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  const run = useRunDocument();
  const opening = useOpenLoop(orgSlug);
  const execute = () =>
    run.mutate({ documentId, command: "execute", ...(repo && { repo }) }, opening);
  return (
    <>
      <Button look="primary" busy={run.isPending} onClick={execute}>
        {!run.isPending && <Play aria-hidden />}
        Execute
      </Button>
      {run.error && <Refusal title="The plan could not be executed" error={run.error} />}
    </>
  );
}

const RESUMABLE: readonly LoopStatus[] = ["FAILED", "CANCELLED", "TIMED_OUT"];

/** Takes an ended loop up again, and opens the loop that does. */
export function useResume(orgSlug: string) {
  const { mutate, isPending, error } = useResumeLoop();
  const opening = useOpenLoop(orgSlug);
  return {
    start: (again: { id: string; prompt?: string }) => mutate(again, opening),
    isPending,
    error,
  };
}

export function RerunButton({ loop, orgSlug }: { loop: LoopDetail; orgSlug: string }) {
  const resume = useResume(orgSlug);
  if (!RESUMABLE.includes(loop.status)) return null;
  return (
    <>
      <Button look="primary" busy={resume.isPending} onClick={() => resume.start({ id: loop.id })}>
        {!resume.isPending && <RotateCcw aria-hidden />}
        Run again
      </Button>
      {resume.error && <Refusal title="The loop could not be run again" error={resume.error} />}
    </>
  );
}

export function StopButton({ loopId }: { loopId: string }) {
  const [asking, setAsking] = useState(false);
  const stop = useStopLoop();
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        <Square aria-hidden />
        Stop
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Stop this loop?"
        confirm="Stop the loop"
        busy={stop.isPending}
        onConfirm={() => stop.mutate(loopId, { onSuccess: () => setAsking(false) })}
      >
        <p>
          The assistant and everything it started are ended. Work that is not committed stays in the
          worktree on the desktop.
        </p>
        {stop.error && <p className="mt-2 text-bad">{messageOf(stop.error)}</p>}
      </ConfirmDialog>
    </>
  );
}

export function Refusal({ title, error }: { title: string; error: unknown }) {
  return (
    <div className="order-last basis-full">
      <Notice tone="bad" title={title}>
        {messageOf(error)}
      </Notice>
    </div>
  );
}
