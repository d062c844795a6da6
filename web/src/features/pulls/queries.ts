/** Reads pull requests through the machine that opened them, and acts on them with its account. */
import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { v7 as uuidV7 } from "uuid";

import { storeCommentDraft } from "@/api/comment-drafts";
import { ApiError } from "@/api/errors";
import { type Scope, useScope } from "@/api/scope";
import type { ChangeRequestDetail, Loop, MergeMethod, PullRequest } from "@/api/types";
import { useKeyedMutation } from "@/api/use-keyed-mutation";
import { useDraft } from "@/drafts/use-draft";
import { useRequestKey } from "@/drafts/use-request-key";
import {
  type Operation,
  pullRequestComments,
  pullRequestMerge,
  type PullRequestName,
  pullRequestReply,
  pullRequestStanding,
  pullRequestUpdate,
  repositoryPath,
} from "@/gateway/operations";
import { request } from "@/gateway/request";
import { executeAgain } from "@/signing/request-changes";

import { conflictsRequest, pollInterval } from "./model/standing";
import { type ChosenThread, isOfFile, reviewComment, reviewSummary } from "./model/threads";

/** A pull request and the machine whose loop opened it; undefined if that loop is no longer listed. */
export interface OpenedPull extends PullRequest {
  machine: string | undefined;
}

/** Returns the pull requests of a change request with their machines. */
export const openedPulls = ({ pullRequests, loops }: ChangeRequestDetail): OpenedPull[] =>
  pullRequests.map((pull) => ({
    ...pull,
    machine: loops.find(({ id }) => id === pull.loopId)?.computeTarget?.id,
  }));

/** Key of all queries about a pull request. */
export const pullKey = (scope: Scope, { fullName, number }: PullRequestName) =>
  scope.key("gateway", "pull", fullName, number);

export const standingQuery = (scope: Scope, pull: OpenedPull) =>
  queryOptions({
    queryKey: [...pullKey(scope, pull), "standing"],
    queryFn: ({ signal }) => request(scope, pull.machine, pullRequestStanding(pull), signal),
    refetchInterval: ({ state }) => pollInterval(state.data?.data),
    retry: false,
  });

export const commentsQuery = (scope: Scope, pull: OpenedPull) =>
  queryOptions({
    queryKey: [...pullKey(scope, pull), "comments"],
    queryFn: ({ signal }) =>
      request(scope, pull.machine, pullRequestComments(pull, pull.branchName), signal),
    retry: false,
  });

/** Reads a pull request again, also if the machine has just read it. */
export function useRefreshPull(pull: OpenedPull) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async () => {
      const { signal } = new AbortController();
      const read = await request(scope, pull.machine, pullRequestStanding(pull, true), signal);
      client.setQueryData(standingQuery(scope, pull).queryKey, read);
      await client.invalidateQueries({ queryKey: commentsQuery(scope, pull).queryKey });
    },
  });
}

/** Sends a change of a pull request to its machine, then reads the pull request. */
function usePullChange<Input>(
  pull: OpenedPull,
  operation: (input: Input, send: <T>(operation: Operation<T>) => Promise<T>) => Promise<unknown>,
) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async (input: Input) => {
      const { signal } = new AbortController();
      await operation(
        input,
        async (sent) => (await request(scope, pull.machine, sent, signal)).data,
      );
    },
    // Also after a failure: a refusal may be caused by a change that the page does not show.
    onSettled: () => client.invalidateQueries({ queryKey: pullKey(scope, pull) }),
  });
}

const displayed = ({ fullName, number }: PullRequestName, headSha: string) => ({
  repoFullName: fullName,
  prNumber: number,
  headSha,
});

/** Merges the displayed head. */
export const useMerge = (pull: OpenedPull) =>
  usePullChange(pull, (input: { method: MergeMethod; headSha: string }, send) =>
    send(pullRequestMerge({ ...displayed(pull, input.headSha), method: input.method })),
  );

/** Merges the base branch into the displayed head. */
export const useUpdateBranch = (pull: OpenedPull) =>
  usePullChange(pull, (headSha: string, send) => send(pullRequestUpdate(displayed(pull, headSha))));

/** Replies to a thread, or comments in the conversation. */
export const useReply = (pull: OpenedPull) =>
  usePullChange(
    pull,
    async ({ body, replyTo }: { body: string; replyTo: number | undefined }, send) => {
      const { path } = await send(repositoryPath(pull.fullName));
      if (path === null)
        throw new Error(`The machine has no clone of ${pull.fullName}. Clone it there first.`);
      await send(
        pullRequestReply({
          repoPath: path,
          prNumber: pull.number,
          body,
          ...(replyTo !== undefined && { commentId: replyTo }),
        }),
      );
    },
  );

/** Sends threads of pull requests as one review to one loop, which answers their comments. Returns the id of the loop. */
export function useAddress(loop: Loop | undefined) {
  const scope = useScope();
  const client = useQueryClient();
  const slug = loop?.document?.slug ?? "";
  const page = `pull requests/${slug}`;
  // Chosen once for each thread, so that a repeated attempt does not store it as another comment.
  const ids = useDraft<Record<string, string>>(page, "comments", {});
  const options = {
    mutationFn: async (chosen: readonly ChosenThread[], key: string) => {
      const ofFiles = chosen.filter(isOfFile).map((choice) => ({
        choice,
        id: ids.value[choice.thread.id] ?? uuidV7(),
      }));
      const used = ofFiles.map(({ choice, id }) => [choice.thread.id, id] as const);
      ids.change((others) => ({ ...others, ...Object.fromEntries(used) }));
      const stored = await Promise.all(
        ofFiles.map(async ({ choice, id }) => {
          const content = reviewComment(choice);
          try {
            const draft = await storeCommentDraft(scope, slug, id, content);
            return { comment: draft, isSent: false };
          } catch (error) {
            if (!(error instanceof ApiError && error.code === "comment_sent")) throw error;
            // The same request was carried out, and its response was lost.
            return { comment: { id, ...content }, isSent: true };
          }
        }),
      );
      const comments = stored.map(({ comment }) => comment);
      const summary = reviewSummary(chosen);
      const selection = {
        comments,
        ...(summary !== undefined && { prompt: summary }),
        review: {
          commentIds: comments.map(({ id }) => id),
          ...(summary !== undefined && { summary }),
          heads: {},
        },
      };
      try {
        return await executeAgain(client, scope, loop, selection, key);
      } catch (error) {
        // Another request needs other comments.
        const areSent = stored.some(({ isSent }) => isSent);
        if (areSent && error instanceof ApiError && error.status > 0) ids.discard();
        throw error;
      }
    },
    onSuccess: ids.discard,
    onSettled: () => refreshLoops(client, scope),
  };
  return useKeyedMutation(options, useRequestKey(page, "address comments"));
}

/** Starts a loop that resolves the conflicts of a pull request with its base branch. Returns the id of the loop. */
export function useResolveConflicts(loop: Loop | undefined) {
  const scope = useScope();
  const client = useQueryClient();
  const options = {
    mutationFn: (pull: OpenedPull, key: string) => {
      const summary = conflictsRequest(pull);
      const review = { commentIds: [], summary, heads: {} };
      return executeAgain(client, scope, loop, { prompt: summary, review }, key);
    },
    onSettled: () => refreshLoops(client, scope),
  };
  const page = `pull requests/${loop?.document?.slug ?? ""}`;
  return useKeyedMutation(options, useRequestKey(page, "resolve conflicts"));
}

const refreshLoops = (client: QueryClient, scope: Scope) =>
  Promise.all(
    ["loops", "change-requests"].map((list) =>
      client.invalidateQueries({ queryKey: scope.key(list) }),
    ),
  );
