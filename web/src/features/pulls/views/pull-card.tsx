/** One pull request: its state, checks and reviews, what can be done with it, and its conversation. */
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useId, useRef } from "react";

import { messageOf } from "@/api/errors";
import { useScope } from "@/api/scope";
import type { PullRequestConversation, PullRequestStanding, ReportedStanding } from "@/api/types";
import type { GatewayResult } from "@/gateway/request";
import { ago, moment } from "@/model/format";
import { usePullRequestHref } from "@/model/pull-request";
import { ActionError } from "@/ui/action-error";
import { Button, buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { Notice, Panel } from "@/ui/panel";
import { GlyphBadge } from "@/ui/status-badge";

import {
  checksSummary,
  OBSTACLES,
  REVIEW_WORDS,
  stateWords,
  VERDICT_WORDS,
} from "../model/standing";
import type { PullThread } from "../model/threads";
import { type OpenedPull, pullKey, standingQuery, useRefreshPull } from "../queries";
import { CheckList } from "./check-list";
import { Conversation } from "./conversation";
import { MergeButton } from "./merge-button";
import { UpdateBranchButton } from "./update-branch-button";

export function PullCard({
  pull,
  threads,
  conversation,
  isChosen,
  onChoose,
  resolveConflicts,
}: {
  pull: OpenedPull;
  threads: PullThread[];
  conversation: UseQueryResult<GatewayResult<PullRequestConversation>> | undefined;
  isChosen: (thread: PullThread) => boolean;
  onChoose: (thread: PullThread, chosen: boolean) => void;
  /** Button that starts a loop which resolves the conflicts. */
  resolveConflicts: ReactNode;
}) {
  const { data: read, error } = useQuery(standingQuery(useScope(), pull));
  const refresh = useRefreshPull(pull);
  const href = usePullRequestHref(pull.url);
  const now = useNow(30_000);
  const heading = useId();
  const { fullName, number, title, branchName, baseBranch, createdAt } = pull;
  const standing = read?.data;
  useReport(pull, standing?.state);
  useReadAfterReport(pull);
  const obstacle = standing?.mergeObstacle && OBSTACLES[standing.mergeObstacle];
  return (
    <Panel className="min-w-0 space-y-3 p-4">
      <article aria-labelledby={heading} className="space-y-3">
        <header>
          <p className="text-sm wrap-anywhere text-ink-3">
            {fullName} #{number}
            {read?.relayedBy && ` · read by ${read.relayedBy.machineName}`}
          </p>
          <h2 id={heading} dir="auto" className="text-lg font-semibold wrap-anywhere">
            {standing?.title ?? title}
          </h2>
          <p className="font-mono text-sm wrap-anywhere text-ink-2">
            <bdi>{branchName}</bdi> → <bdi>{baseBranch}</bdi>
          </p>
          <p className="text-sm text-ink-3" title={moment(createdAt)}>
            opened {ago(createdAt, now)}
          </p>
        </header>
        {standing ? (
          <Badges standing={standing}>{checksSummary(standing.checks)}</Badges>
        ) : (
          pull.standing && <Badges standing={pull.standing} />
        )}
        {error && (
          <Notice
            tone="warn"
            title="This pull request cannot be read now"
            action={
              <Button size="sm" busy={refresh.isPending} onClick={() => refresh.mutate(undefined)}>
                Try again
              </Button>
            }
          >
            {messageOf(error)}
            {!standing &&
              pull.reportedAt &&
              ` The state above is from ${ago(pull.reportedAt, now)}.`}
          </Notice>
        )}
        <div className="flex flex-wrap items-center gap-2">
          {standing && <MergeButton pull={pull} standing={standing} />}
          {standing?.state === "open" && standing.hasConflicts && resolveConflicts}
          {standing?.canUpdateBranch && <UpdateBranchButton pull={pull} standing={standing} />}
          {href && (
            <a href={href} target="_blank" rel="noreferrer" className={buttonClass("plain")}>
              Open pull request
            </a>
          )}
          <Button
            variant="quiet"
            size="icon"
            aria-label={`Read ${fullName} #${number} again`}
            title="Read again"
            busy={refresh.isPending}
            onClick={() => refresh.mutate(undefined)}
          >
            {!refresh.isPending && <RefreshCw aria-hidden />}
          </Button>
          {refresh.error && !error && (
            <ActionError title="The pull request could not be read" error={refresh.error} />
          )}
        </div>
        {obstacle && <p className="text-sm text-pretty text-ink-2">{obstacle}</p>}
        {standing && <Reviewers reviewers={standing.reviewers} now={now} />}
        {standing && <CheckList standing={standing} />}
        <Conversation
          pull={pull}
          threads={threads}
          query={conversation}
          isOpen={standing?.state === "open"}
          isChosen={isChosen}
          onChoose={onChoose}
        />
      </article>
    </Panel>
  );
}

/** State, checks, reviews and conflicts, as far as they are known. */
function Badges({
  standing,
  children,
}: {
  standing: Pick<ReportedStanding, "state" | "isDraft" | "hasConflicts" | "unresolvedThreads"> & {
    reviewDecision?: ReportedStanding["reviewDecision"];
  };
  children?: ReturnType<typeof checksSummary>;
}) {
  const state = stateWords(standing);
  const review = standing.reviewDecision && REVIEW_WORDS[standing.reviewDecision];
  const { unresolvedThreads } = standing;
  const badges: ReactNode[] = [state, review, children]
    .filter((words) => words != null)
    .map(({ label, tone }) => (
      <GlyphBadge key={label} tone={tone} isActive={false}>
        {label}
      </GlyphBadge>
    ));
  return (
    <p className="flex flex-wrap gap-2">
      {badges}
      {standing.hasConflicts && (
        <GlyphBadge tone="bad" isActive={false}>
          Conflicts
        </GlyphBadge>
      )}
      {unresolvedThreads > 0 && (
        <GlyphBadge tone="warn" isActive={false}>
          {unresolvedThreads} unresolved {unresolvedThreads === 1 ? "thread" : "threads"}
        </GlyphBadge>
      )}
    </p>
  );
}

const REPORT_POLL_MS = 2_000;
// A machine that is not connected to the control plane reports later.
const REPORT_LIMIT_MS = 30_000;

/** Reads the change request again until its machine has reported the state that the page shows. */
function useReport(pull: OpenedPull, shown: ReportedStanding["state"] | undefined): void {
  const client = useQueryClient();
  const scope = useScope();
  const isAhead = shown !== undefined && shown !== pull.standing?.state;
  useEffect(() => {
    if (!isAhead) return undefined;
    const read = () => void client.invalidateQueries({ queryKey: scope.key("change-requests") });
    const timer = setInterval(read, REPORT_POLL_MS);
    const limit = setTimeout(() => clearInterval(timer), REPORT_LIMIT_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(limit);
    };
  }, [isAhead, client, scope]);
}

/** Reads a pull request again when its machine has reported a change, for example the push of a loop. */
function useReadAfterReport(pull: OpenedPull): void {
  const client = useQueryClient();
  const scope = useScope();
  const { reportedAt } = pull;
  const known = useRef(reportedAt);
  const readAgain = useEffectEvent(() => {
    void client.invalidateQueries({ queryKey: pullKey(scope, pull) });
  });
  useEffect(() => {
    if (known.current === reportedAt) return;
    known.current = reportedAt;
    readAgain();
  }, [reportedAt]);
}

/** Who has reviewed the pull request, and the verdict of each. */
function Reviewers({
  reviewers,
  now,
}: {
  reviewers: PullRequestStanding["reviewers"];
  now: number;
}) {
  if (reviewers.length === 0) return null;
  return (
    <ul aria-label="Reviews" className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {reviewers.map(({ login, verdict, at }) => {
        const { label, tone } = VERDICT_WORDS[verdict];
        return (
          <li key={login} title={at == null ? undefined : ago(at, now)}>
            <GlyphBadge tone={tone} isActive={false}>
              <bdi>{login}</bdi> {label}
            </GlyphBadge>
          </li>
        );
      })}
    </ul>
  );
}
