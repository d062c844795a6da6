/** Reviews of a worktree by programs: their state, and their findings. */
import {
  keepPreviousData,
  queryOptions,
  skipToken,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect } from "react";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";
import type { RepositoryChanges, ReviewFinding } from "@/api/types";
import {
  declineFinding,
  duplicateFindings,
  type Operation,
  reviewerAvailability,
  reviewFindings,
  reviewStatus,
  reviewVerdict,
  startReview,
  stopReview,
  type TicketWorktree,
} from "@/gateway/operations";
import { follow, request } from "@/gateway/request";
import { ticketWorktreeQuery } from "@/gateway/ticket-worktree";
import { isActive } from "@/model/status";

import { ASSISTANT, REVIEWER } from "./model/discussion";
import {
  type FindingGroup,
  findingsOf,
  groupFindings,
  indexesOf,
  type ShownFinding,
} from "./model/findings";
import type { ChangesLoop } from "./queries";

// The gateway returns the whole end of the log each time.
const RUNNING_POLL_MS = 2_000;
const RELAYED_POLL_MS = 5_000;

/** A worktree that can be reviewed, and the machine that has it. */
export interface ReviewTarget {
  loop: ChangesLoop;
  worktree: TicketWorktree;
}

export const reviewKey = (scope: Scope, target: ReviewTarget | undefined, ...parts: unknown[]) =>
  scope.key("gateway", "review", target?.loop.computeTargetId, target?.worktree, ...parts);

export const send = <Result>(
  scope: Scope,
  loop: ChangesLoop,
  operation: Operation<Result>,
  signal = new AbortController().signal,
) => request(scope, loop.computeTargetId ?? undefined, operation, signal);

export const availabilityQuery = (scope: Scope, loop: ChangesLoop) =>
  queryOptions({
    queryKey: scope.key("gateway", "reviewer", loop.computeTargetId),
    queryFn: ({ signal }) => send(scope, loop, reviewerAvailability, signal),
    staleTime: Infinity,
    retry: false,
  });

const statusQuery = (scope: Scope, target: ReviewTarget | undefined) =>
  queryOptions({
    queryKey: reviewKey(scope, target, "status"),
    queryFn: target
      ? ({ signal }) => send(scope, target.loop, reviewStatus(target.worktree, REVIEWER), signal)
      : skipToken,
    refetchInterval: ({ state: { data } }) =>
      data && "status" in data.data && data.data.status === "running"
        ? data.relayedBy
          ? RELAYED_POLL_MS
          : RUNNING_POLL_MS
        : false,
    retry: false,
  });

const NONE: FindingGroup[] = [];

/** What is known of the reviews of a repository's worktree. */
export function useReviewOfChanges(loop: ChangesLoop, repository: RepositoryChanges) {
  const scope = useScope();
  const named = useQuery(ticketWorktreeQuery(scope, loop.computeTargetId ?? undefined, repository));
  const target = named.data ? { loop, worktree: named.data } : undefined;
  const answer = useQuery(statusQuery(scope, target));
  const status = answer.data?.data;
  const review = status && "status" in status ? status : undefined;
  // The gateway has found another directory than the worktree of the loop.
  const isUnknown = status && "message" in status && status.message === "Worktree not found";
  const findings = useQuery({
    queryKey: reviewKey(
      scope,
      target,
      "findings",
      review?.startedAt,
      review?.status,
      repository.head,
    ),
    queryFn:
      target && status && !isUnknown
        ? ({ signal }) => readFindings(scope, target, signal)
        : skipToken,
    placeholderData: keepPreviousData,
    // The loop moves the lines of the findings.
    refetchInterval: ({ state: { data } }) =>
      isActive(loop.status) && (data?.length ?? 0) > 0 && RELAYED_POLL_MS,
    retry: false,
  });
  return {
    /** Undefined if the gateway cannot name the worktree, or not yet. */
    target: isUnknown ? undefined : target,
    isUnknown: named.data === null || isUnknown === true,
    review,
    groups: findings.data ?? NONE,
    areFindingsLoaded: findings.isSuccess && !findings.isPlaceholderData,
    isLoading: named.isLoading || answer.isLoading,
    error: named.error ?? answer.error ?? findings.error,
  };
}

export type ReviewOfChanges = ReturnType<typeof useReviewOfChanges>;

async function readFindings(
  scope: Scope,
  target: ReviewTarget,
  signal: AbortSignal,
): Promise<FindingGroup[]> {
  const [own, others] = await Promise.all([
    readStored(scope, target, REVIEWER, signal),
    readStored(scope, target, ASSISTANT, signal),
  ]);
  const compared = (list: readonly ReviewFinding[]) =>
    list.map(({ file, message }) => ({ ...(file != null && { file }), message: message ?? "" }));
  const operation = duplicateFindings(
    target.worktree,
    [REVIEWER, compared(own)],
    [ASSISTANT, compared(others)],
  );
  const pairs =
    own.length > 0 && others.length > 0
      ? (await send(scope, target.loop, operation, signal)).data.duplicates
      : [];
  return groupFindings(findingsOf(REVIEWER, own), findingsOf(ASSISTANT, others), pairs);
}

async function readStored(
  scope: Scope,
  { loop, worktree }: ReviewTarget,
  provider: string,
  signal: AbortSignal,
): Promise<ReviewFinding[]> {
  const { data } = await send(scope, loop, reviewFindings(worktree, provider), signal);
  return data.findings ?? [];
}

/**
 * Reports to the control plane how many findings wait for a decision. The machine does so when a review has ended; pages
 * know what persons have decided since then. `findings`: undefined until they are known.
 */
export function useReportOpenFindings(
  { id }: ChangesLoop,
  repository: string,
  findings: readonly ShownFinding[] | undefined,
): void {
  const { api } = useScope();
  const count = findings?.filter(({ state }) => state === "open" || state === "added").length;
  useEffect(() => {
    if (count === undefined) return;
    const body = { repository, count };
    // Reported again at the next visit.
    unwrap(api.PUT("/loops/{id}/findings", { params: { path: { id } }, body })).catch(
      () => undefined,
    );
  }, [api, id, repository, count]);
}

/** Declines the findings of a group, or restores them. */
export function useDecision(target: ReviewTarget) {
  const scope = useScope();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({
      group,
      decision,
    }: {
      group: FindingGroup;
      decision: { reason: string } | undefined;
    }) => {
      const findings = [group.first, ...group.others];
      for (const provider of new Set(findings.map((finding) => finding.provider))) {
        // Read again: another review may have replaced the findings.
        const { data } = await send(scope, target.loop, reviewFindings(target.worktree, provider));
        const stored = data.findings ?? [];
        const ids = findings.map(({ id }) => id);
        for (const index of indexesOf(provider, stored, ids)) {
          const finding = { index, message: stored[index]?.message ?? "" };
          const change = declineFinding(target.worktree, provider, finding, decision);
          await send(scope, target.loop, change);
        }
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: reviewKey(scope, target, "findings") }),
  });
}

/** Starts a review. It continues when this page stops reading its events. */
export function useStartReview(target: ReviewTarget, base: string | undefined) {
  const scope = useScope();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { loop, worktree } = target;
      const { signal } = new AbortController();
      const start = startReview(worktree, REVIEWER, base);
      for await (const event of follow(scope, loop.computeTargetId ?? undefined, start, signal)) {
        if (event.type === "error") throw new Error(event.error);
        if (event.type === "status" && event.status === "running") return;
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: reviewKey(scope, target, "status") }),
  });
}

export function useStopReview({ loop, worktree }: ReviewTarget) {
  const scope = useScope();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => send(scope, loop, stopReview(worktree, REVIEWER)),
    onSettled: () =>
      client.invalidateQueries({ queryKey: reviewKey(scope, { loop, worktree }, "status") }),
  });
}

/** Requests the verdict of a review. The reviewer works on it for minutes. */
export const verdictQuery = (scope: Scope, target: ReviewTarget, session: string) =>
  queryOptions({
    queryKey: reviewKey(scope, target, "verdict", session),
    queryFn: async ({ signal }) =>
      (await send(scope, target.loop, reviewVerdict(target.worktree, REVIEWER, session), signal))
        .data,
    staleTime: Infinity,
    gcTime: Infinity,
    retry: false,
  });
