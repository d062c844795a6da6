/** The review of the changes by the reviewer: start, progress, end, and verdict. */
import { useQuery } from "@tanstack/react-query";
import { Play, RotateCcw, Square } from "lucide-react";
import { type ReactNode, useState } from "react";

import { messageOf } from "@/api/errors";
import { useScope } from "@/api/scope";
import type { LoopDetail, RepositoryChanges, ReviewAnswer, Verdict } from "@/api/types";
import { ago, duration, moment } from "@/model/format";
import { isActive, type Tone } from "@/model/status";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { Notice } from "@/ui/panel";
import { Badge, GlyphBadge } from "@/ui/status-badge";

import {
  availabilityQuery,
  type ReviewOfChanges,
  type ReviewTarget,
  useStartReview,
  useStopReview,
  verdictQuery,
} from "../finding-queries";

export function ReviewerPanel({
  loop,
  repository,
  changes: { target, review, isUnknown, isLoading, error },
}: {
  loop: LoopDetail;
  repository: RepositoryChanges;
  changes: ReviewOfChanges;
}) {
  const available = useQuery(availabilityQuery(useScope(), loop));
  return (
    <section
      aria-label="Reviewer"
      className="min-h-11 space-y-2 rounded-md border border-line px-3 py-1.5 text-sm"
    >
      {isUnknown && (
        <p className="py-1 text-ink-2">
          Reviews are not available: the machine does not list the clone to which this worktree
          belongs.
        </p>
      )}
      {error && (
        <Notice tone="warn" title="The review could not be read">
          {messageOf(error)}
        </Notice>
      )}
      {available.data?.data.available === false && review?.status !== "running" ? (
        <Missing
          machine={loop.computeTarget?.machineName}
          isChecking={available.isFetching}
          onCheck={() => void available.refetch()}
        />
      ) : (
        target &&
        !isLoading && (
          <Review
            target={target}
            review={review}
            base={repository.base?.name ?? undefined}
            isBusy={isActive(loop.status)}
          />
        )
      )}
    </section>
  );
}

function Missing({
  machine,
  isChecking,
  onCheck,
}: {
  machine: string | undefined;
  isChecking: boolean;
  onCheck: () => void;
}) {
  return (
    <details className="py-1">
      <summary className="cursor-pointer text-ink-2">
        No reviewer is installed on {machine ?? "this machine"}
      </summary>
      <div className="max-w-prose space-y-2 pt-2">
        <p className="text-ink-2">
          A second program can review the changes. Install it there, then run{" "}
          <code className="font-mono text-xs">codex</code> once to sign in.
        </p>
        <CommandLine text="npm install -g @openai/codex" label="Copy the command" />
        <Button size="sm" busy={isChecking} onClick={onCheck}>
          <RotateCcw aria-hidden /> Check again
        </Button>
      </div>
    </details>
  );
}

function Review({
  target,
  review,
  base,
  isBusy,
}: {
  target: ReviewTarget;
  review: ReviewAnswer | undefined;
  base: string | undefined;
  /** Whether a loop works in the worktree. */
  isBusy: boolean;
}) {
  const start = useStartReview(target, base);
  const stop = useStopReview(target);
  const isRunning = review?.status === "running";
  // The verdict takes minutes of work: requested at the end of a review that this page has followed, else on demand.
  const [wasFollowed, setWasFollowed] = useState(false);
  if (isRunning && !wasFollowed) setWasFollowed(true);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        {review ? (
          <Progress review={review} />
        ) : (
          <span className="text-ink-2">
            The reviewer reads the changes and reports findings at their lines.
          </span>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-2">
          {isBusy && !isRunning && (
            <span className="text-ink-3">Possible when the loop has ended.</span>
          )}
          {isRunning ? (
            <Button size="sm" busy={stop.isPending} onClick={() => stop.mutate()}>
              <Square aria-hidden /> Stop review
            </Button>
          ) : (
            <Button
              size="sm"
              busy={start.isPending}
              disabled={isBusy}
              onClick={() => start.mutate()}
            >
              {review ? <RotateCcw aria-hidden /> : <Play aria-hidden />}
              {review ? "Review again" : "Review these changes"}
            </Button>
          )}
        </span>
        {start.error && <ActionError title="The review could not be started" error={start.error} />}
        {stop.error && <ActionError title="The review could not be stopped" error={stop.error} />}
      </div>
      {review?.status === "completed" && review.sessionId != null && (
        <VerdictRow
          key={review.sessionId}
          target={target}
          session={review.sessionId}
          stored={review.verdict}
          isRequested={wasFollowed}
        />
      )}
      {review && review.log.trim() !== "" && <Log log={review.log} />}
    </>
  );
}

const STATUSES: Record<ReviewAnswer["status"], { label: string; tone: Tone }> = {
  running: { label: "Reviewing", tone: "run" },
  completed: { label: "Reviewed", tone: "ok" },
  failed: { label: "Review failed", tone: "bad" },
  stopped: { label: "Review stopped", tone: "idle" },
};

function Progress({ review }: { review: ReviewAnswer }) {
  const isRunning = review.status === "running";
  const now = useNow(isRunning ? 1_000 : 30_000);
  const { label, tone } = STATUSES[review.status];
  const { startedAt, completedAt, log, config } = review;
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-ink-2">
      <span role="status">
        <GlyphBadge tone={tone} isActive={isRunning}>
          {label}
        </GlyphBadge>
      </span>
      <span className="tabular-nums" title={moment(startedAt)}>
        {isRunning
          ? duration(Math.max(0, now - Date.parse(startedAt)))
          : ago(completedAt ?? startedAt, now)}
      </span>
      <span className="text-ink-3">{config.model}</span>
      {isRunning && (
        <span dir="auto" className="max-w-[60ch] min-w-0 truncate text-ink-3">
          {log.trimEnd().split("\n").at(-1)}
        </span>
      )}
    </span>
  );
}

function Log({ log }: { log: string }) {
  return (
    <details>
      <summary className="cursor-pointer text-ink-2">Log of the review</summary>
      <pre
        // Scrolls separately from the page, and must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label="Log of the review"
        dir="auto"
        className="mt-1 max-h-64 overflow-y-auto rounded-md bg-sunken p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
      >
        {log}
      </pre>
    </details>
  );
}

const VERDICTS: Record<Verdict["verdict"], { label: string; tone: Tone }> = {
  approve: { label: "Approve", tone: "ok" },
  needs_attention: { label: "Needs attention", tone: "warn" },
  decline: { label: "Decline", tone: "bad" },
};

function VerdictRow({
  target,
  session,
  stored,
  isRequested,
}: {
  target: ReviewTarget;
  session: string;
  /** The verdict that was given before. */
  stored: Verdict | null | undefined;
  isRequested: boolean;
}) {
  const answer = useQuery({
    ...verdictQuery(useScope(), target, session),
    enabled: isRequested && !stored,
  });
  const { error } = answer.data ?? {};
  const verdict = stored ?? answer.data?.verdict;
  const request = (label: string) => (
    <Button size="sm" onClick={() => void answer.refetch()}>
      {label}
    </Button>
  );
  if (answer.isFetching && !stored)
    return <Row>The reviewer is asked for its verdict. This can take 10 minutes.</Row>;
  if (verdict) {
    const { label, tone } = VERDICTS[verdict.verdict];
    return (
      <Row>
        <Badge tone={tone}>Verdict: {label}</Badge>
        <span dir="auto" className="min-w-0 wrap-anywhere">
          {verdict.reason}
        </span>
      </Row>
    );
  }
  const problem = answer.error ? messageOf(answer.error) : error;
  if (answer.isFetched)
    return (
      <Row>
        <span dir="auto" className="min-w-0 wrap-anywhere">
          The reviewer gave no verdict{problem ? `: ${problem}` : "."}
        </span>
        {request("Ask again")}
      </Row>
    );
  return <Row>{request("Ask for a verdict")}</Row>;
}

const Row = ({ children }: { children: ReactNode }) => (
  <div role="status" className="flex flex-wrap items-center gap-2 text-ink-2">
    {children}
  </div>
);
