/** What a person can do with a loop or a plan. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play, RotateCcw, Square } from "lucide-react";
import { useState } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { documentQuery, useResumeLoop, useRunDocument, useStopLoop } from "@/api/queries";
import type { Document, LoopDetail, LoopStatus, RepoRef } from "@/api/types";
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

/** Carries out a plan; one that was carried out already only after a question. */
export function ExecuteButton({
  plan,
  repo,
  orgSlug,
}: {
  plan: Pick<Document, "slug">;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  const [asking, setAsking] = useState(false);
  const { data: document, isPending } = useQuery(documentQuery(plan.slug));
  const executed = document?.loops.some(
    ({ command, status }) => command === "EXECUTE" && status === "COMPLETED",
  );
  const run = useRunDocument();
  const opening = useOpenLoop(orgSlug);
  const execute = () => {
    setAsking(false);
    run.mutate({ documentId: plan.slug, command: "execute", ...(repo && { repo }) }, opening);
  };
  return (
    <>
      <Button
        look="primary"
        busy={isPending || run.isPending}
        onClick={executed ? () => setAsking(true) : execute}
      >
        {!(isPending || run.isPending) && <Play aria-hidden />}
        {executed ? "Execute again" : "Execute"}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Execute this plan again?"
        confirm="Execute again"
        look="primary"
        busy={run.isPending}
        onConfirm={execute}
      >
        <p>
          It was executed already. Another loop works on the plan once more, on top of what is
          there, and costs as much as any other.
        </p>
      </ConfirmDialog>
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

/** Never where a button that starts a loop was: the second of two clicks would hit it. */
export function StopButton({ loopId }: { loopId: string }) {
  const [asking, setAsking] = useState(false);
  const stop = useStopLoop();
  return (
    <>
      <Button look="danger" size="sm" className="max-sm:ml-auto" onClick={() => setAsking(true)}>
        <Square aria-hidden />
        Stop
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Stop this loop?"
        cancel="Keep it"
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
