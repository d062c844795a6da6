/** Actions on loops and plans: execute, resume, cancel. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play, RotateCcw, Square } from "lucide-react";
import { useState } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { documentQuery, useResumeLoop, useRunDocument, useCancelLoop } from "@/api/queries";
import type { Document, LoopDetail, LoopStatus, RepoRef } from "@/api/types";
import type { Displayed } from "@/signing/launch";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Notice } from "@/ui/panel";

/** Opens the started loop, or the existing one when the server reports a conflict. */
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

/** Executes a plan. Requires confirmation if it has already been executed. */
export function ExecuteButton({
  plan,
  repo,
  orgSlug,
  displayed,
}: {
  plan: Pick<Document, "slug">;
  repo: RepoRef | null | undefined;
  orgSlug: string;
  /** The version on the page, if it is not the current one. */
  displayed?: Displayed;
}) {
  const [confirming, setConfirming] = useState(false);
  const { data: document, isPending } = useQuery(documentQuery(plan.slug));
  const executed = document?.loops.some(
    ({ command, status }) => command === "EXECUTE" && status === "COMPLETED",
  );
  const run = useRunDocument();
  const opening = useOpenLoop(orgSlug);
  const execute = () => {
    setConfirming(false);
    if (!document) return;
    const { version, content } = displayed ?? {
      version: document.currentVersion,
      content: document.content,
    };
    const request = { documentId: plan.slug, command: "execute" as const, version, content };
    run.mutate({ ...request, ...(repo && { repo }) }, opening);
  };
  return (
    <>
      <Button
        variant="primary"
        busy={isPending || run.isPending}
        onClick={executed ? () => setConfirming(true) : execute}
      >
        {!(isPending || run.isPending) && <Play aria-hidden />}
        {executed ? "Execute again" : "Execute"}
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title="Execute this plan again?"
        confirm="Execute again"
        variant="primary"
        busy={run.isPending}
        onConfirm={execute}
      >
        <p>
          This plan has already been executed. Another loop applies it again on top of the existing
          work, at the cost of a new loop.
        </p>
      </ConfirmDialog>
      {run.error && <ActionError title="The plan could not be executed" error={run.error} />}
    </>
  );
}

const RESUMABLE: readonly LoopStatus[] = ["FAILED", "CANCELLED", "TIMED_OUT"];

/** Resumes a finished loop, and opens the new loop that continues it. */
export function useResume(orgSlug: string) {
  const { mutate, isPending, error } = useResumeLoop();
  const opening = useOpenLoop(orgSlug);
  return {
    start: (input: { id: string; prompt?: string }) => mutate(input, opening),
    isPending,
    error,
  };
}

export function ResumeButton({ loop, orgSlug }: { loop: LoopDetail; orgSlug: string }) {
  const resume = useResume(orgSlug);
  if (!RESUMABLE.includes(loop.status)) return null;
  return (
    <>
      <Button
        variant="primary"
        busy={resume.isPending}
        onClick={() => resume.start({ id: loop.id })}
      >
        {!resume.isPending && <RotateCcw aria-hidden />}
        Resume
      </Button>
      {resume.error && <ActionError title="The loop could not be resumed" error={resume.error} />}
    </>
  );
}

/** Must not be placed where a start button was: the second click of a double click would hit it. */
export function CancelButton({ loopId }: { loopId: string }) {
  const [confirming, setConfirming] = useState(false);
  const cancel = useCancelLoop();
  return (
    <>
      <Button
        variant="danger"
        size="sm"
        className="max-sm:ml-auto"
        onClick={() => setConfirming(true)}
      >
        <Square aria-hidden />
        Cancel loop
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title="Cancel this loop?"
        cancel="Keep running"
        confirm="Cancel loop"
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate(loopId, { onSuccess: () => setConfirming(false) })}
      >
        <p>
          The assistant and all processes that it started are terminated. Uncommitted work remains
          in the worktree on the desktop.
        </p>
        {cancel.error && <p className="mt-2 text-bad">{messageOf(cancel.error)}</p>}
      </ConfirmDialog>
    </>
  );
}

export function ActionError({ title, error }: { title: string; error: unknown }) {
  return (
    <div className="order-last basis-full">
      <Notice tone="bad" title={title}>
        {messageOf(error)}
      </Notice>
    </div>
  );
}
