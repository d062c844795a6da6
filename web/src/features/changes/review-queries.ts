/** Reads and stores the comments on changes, and finishes reviews. */
import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useRef } from "react";

import { unwrap } from "@/api/client";
import { type CommentContent, storeCommentDraft } from "@/api/comment-drafts";
import { type Scope, useScope } from "@/api/scope";
import type {
  ChangedFile,
  ChangeReviews,
  CommentDraft,
  CommentPlace,
  LocatedLine,
  LoopDetail,
  PatchesRequest,
  RepositoryChanges,
  RequestedLine,
  ReviewSubmission,
} from "@/api/types";
import { useKeyedMutation } from "@/api/use-keyed-mutation";
import { useRequestKey } from "@/drafts/use-request-key";
import { loopPatches, pullRequestReview } from "@/gateway/operations";
import { request } from "@/gateway/request";
import { executeAgain } from "@/signing/request-changes";

import { isAwaited, type LineRange } from "./model/comments";
import { contentKey } from "./model/content-key";
import type { CommentLines } from "./model/diff-files";
import type { ChangesLoop } from "./queries";

const NONE: ChangeReviews = { drafts: [], reviews: [] };
const POLL_MS = 3_000;

/** A loop whose changes are reviewed. Without a document, it belongs to no change request and has no comments. */
export type ReviewedLoop = ChangesLoop & Pick<LoopDetail, "document" | "repo">;

const reviewsKey = (scope: Scope, slug: string) => scope.key("change-requests", "reviews", slug);

const reviewsQuery = (scope: Scope, slug: string) =>
  queryOptions({
    queryKey: reviewsKey(scope, slug),
    queryFn: ({ signal }) => {
      const params = { path: { idOrSlug: slug } };
      return unwrap(scope.api.GET("/change-requests/{idOrSlug}/reviews", { params, signal }));
    },
    // A loop answers in other programs; everything else is announced as a change of the lists.
    refetchInterval: ({ state }) => state.data?.reviews.some(isAwaited) && POLL_MS,
  });

/** Returns the comments on the changes of a loop. */
export function useReviews(loop: ReviewedLoop): ChangeReviews & { isLoaded: boolean } {
  const slug = loop.document?.slug;
  const query = useQuery({
    ...reviewsQuery(useScope(), slug ?? ""),
    enabled: slug !== undefined,
  });
  return { ...(query.data ?? NONE), isLoaded: query.isSuccess };
}

/** A comparison, as requests name it. */
export type Comparison = Omit<PatchesRequest, "paths" | "lines">;

/** Identifies and finds lines in a comparison, on the machine that has its files. */
async function locate(
  scope: Scope,
  loop: ChangesLoop,
  comparison: Comparison,
  lines: RequestedLine[],
  signal: AbortSignal,
): Promise<LocatedLine[]> {
  const operation = loopPatches(loop.id, { ...comparison, paths: [], lines });
  const { data } = await request(scope, loop.computeTargetId ?? undefined, operation, signal);
  return data.lines ?? [];
}

/** Returns where the lines of comments are now. */
export function useCommentLines(
  loop: ChangesLoop,
  comparison: Comparison,
  files: ReadonlyMap<string, ChangedFile>,
  comments: readonly (CommentPlace & { id: string })[],
): CommentLines {
  const scope = useScope();
  const wanted = comments.flatMap(({ id, repository, path, lines }) => {
    const file = files.get(path);
    if (repository !== comparison.repository || !file || !lines?.anchor) return [];
    const { side, to, anchor } = lines;
    const oldPath = file.oldPath ? { oldPath: file.oldPath } : {};
    return { id, key: contentKey(file), line: { path, ...oldPath, side, line: to, anchor } };
  });
  const query = useQuery({
    queryKey: scope.key(
      "gateway",
      "comment-lines",
      loop.id,
      comparison,
      wanted.map(({ id, key }) => [id, key]),
    ),
    queryFn: async ({ signal }) => {
      const lines = wanted.map(({ line }) => line);
      const located = await locate(scope, loop, comparison, lines, signal);
      return new Map(
        wanted.flatMap(({ id }, index) => {
          const line = located[index];
          return line ? [[id, line] as const] : [];
        }),
      );
    },
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
  });
  return query.data ?? NOT_LOCATED;
}

const NOT_LOCATED: CommentLines = new Map();

/** A comment that the person has written. The id is chosen once, so that a repeated request stores it once. */
export interface WrittenComment {
  id: string;
  file: Pick<ChangedFile, "path" | "oldPath">;
  lines: LineRange | undefined;
  body: string;
}

/** Stores a comment with what identifies its line. */
export function useStoreComment(loop: ReviewedLoop, comparison: Comparison) {
  const scope = useScope();
  const client = useQueryClient();
  const slug = loop.document?.slug ?? "";
  return useMutation({
    mutationFn: async ({ id, file: { path, oldPath }, lines, body }: WrittenComment) => {
      const { signal } = new AbortController();
      const line = lines && {
        path,
        ...(oldPath && { oldPath }),
        side: lines.side,
        line: lines.to,
      };
      // A comment without an anchor is better than a lost one.
      const [located] = line
        ? await locate(scope, loop, comparison, [line], signal).catch(() => [])
        : [];
      const anchor = located?.anchor;
      return storeCommentDraft(scope, slug, id, {
        repository: comparison.repository,
        path,
        ...(lines && { lines: { ...lines, ...(anchor && { anchor }) } }),
        body,
      });
    },
    onSuccess: (draft) => setDrafts(client, scope, slug, draft.id, draft),
    onSettled: () => client.invalidateQueries({ queryKey: reviewsKey(scope, slug) }),
  });
}

function setDrafts(
  client: ReturnType<typeof useQueryClient>,
  scope: Scope,
  slug: string,
  id: string,
  draft?: CommentDraft,
): void {
  client.setQueryData<ChangeReviews>(reviewsKey(scope, slug), (known = NONE) => {
    const index = known.drafts.findIndex((other) => other.id === id);
    const drafts = known.drafts.toSpliced(
      index < 0 ? known.drafts.length : index,
      1,
      ...(draft ? [draft] : []),
    );
    return { ...known, drafts };
  });
}

/** Stores a comment whose lines are already identified. */
export function useStoreDraft(loop: ReviewedLoop) {
  const scope = useScope();
  const client = useQueryClient();
  const slug = loop.document?.slug ?? "";
  return useMutation({
    mutationFn: ({ id, repository, path, lines, body }: CommentContent & { id: string }) =>
      storeCommentDraft(scope, slug, id, {
        repository,
        path,
        ...(lines && { lines }),
        body,
      }),
    onSuccess: (draft) => setDrafts(client, scope, slug, draft.id, draft),
    onSettled: () => client.invalidateQueries({ queryKey: reviewsKey(scope, slug) }),
  });
}

/** Deletes a comment that is not sent. */
export function useDeleteComment(loop: ReviewedLoop) {
  const scope = useScope();
  const client = useQueryClient();
  const slug = loop.document?.slug ?? "";
  return useMutation({
    mutationFn: (commentId: string) => {
      const params = { path: { idOrSlug: slug, commentId } };
      return unwrap(
        scope.api.DELETE("/change-requests/{idOrSlug}/comments/{commentId}", { params }),
      );
    },
    onMutate: (id) => setDrafts(client, scope, slug, id),
    onSettled: () => client.invalidateQueries({ queryKey: reviewsKey(scope, slug) }),
  });
}

/** The reviewed commit of each repository. */
const headsOf = (repositories: readonly RepositoryChanges[]) =>
  Object.fromEntries(
    repositories.flatMap(({ name, head }) => (head == null ? [] : [[name, head] as const])),
  );

/** What the person sends. */
export interface FinishedReview {
  comments: readonly CommentDraft[];
  summary: string;
}

const submissionOf = (
  { comments, summary }: FinishedReview,
  repositories: readonly RepositoryChanges[],
): ReviewSubmission => ({
  commentIds: comments.map(({ id }) => id),
  ...(summary.trim() !== "" && { summary: summary.trim() }),
  heads: headsOf(repositories),
});

/** Starts one loop on the plan, which answers all comments of a review. Returns its id. */
export function useRequestChanges(
  loop: ReviewedLoop,
  repositories: readonly RepositoryChanges[],
  page: string,
) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: (review: FinishedReview, key: string) => {
      const selection = {
        comments: review.comments,
        ...(review.summary.trim() !== "" && { prompt: review.summary.trim() }),
        review: submissionOf(review, repositories),
      };
      return executeAgain(client, scope, loop, selection, key);
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: scope.key("loops") }),
        client.invalidateQueries({ queryKey: scope.key("change-requests") }),
      ]),
  };
  return useKeyedMutation(options, useRequestKey(page, "request changes"));
}

/** Starts a loop that opens the pull requests of the changes on the page. Returns its id. */
export function useApprove(
  loop: ReviewedLoop,
  repositories: readonly RepositoryChanges[],
  page: string,
) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: (_: null, key: string) => {
      const selection = { approve: { heads: headsOf(repositories) } };
      return executeAgain(client, scope, loop, selection, key);
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: scope.key("loops") }),
        client.invalidateQueries({ queryKey: scope.key("change-requests") }),
      ]),
  };
  return useKeyedMutation(options, useRequestKey(page, "approve"));
}

/** Returns whether the changes of a loop wait for an approval. */
export const isHeld = ({ results }: Pick<LoopDetail, "results">): boolean =>
  results?.some(({ status }) => status === "held") ?? false;

/** Returns the number of the pull request that a loop opened for a repository. */
export function pullRequestOf(loop: LoopDetail, repository: string): number | undefined {
  const entry = loop.results?.find(
    ({ status, fullName }) => status === "success" && fullName === repository,
  );
  if (entry?.status === "success") return entry.prNumber;
  return loop.repo?.fullName === repository ? (loop.prNumber ?? undefined) : undefined;
}

/**
 * Posts comments to the pull requests of their repositories, and finishes the review without a loop. Comments on a
 * repository without a pull request are notes.
 */
export function useCommentOnly(loop: LoopDetail, repositories: readonly RepositoryChanges[]) {
  const scope = useScope();
  const client = useQueryClient();
  // Repositories whose comments were posted, so that a repeated attempt does not post them again.
  const posted = useRef(new Set<string>());
  return useMutation({
    mutationFn: async (review: FinishedReview) => {
      const { signal } = new AbortController();
      for (const { name, worktree, head } of repositories) {
        const prNumber = pullRequestOf(loop, name);
        const comments = review.comments.filter(({ repository }) => repository === name);
        if (prNumber === undefined || worktree == null || posted.current.has(name)) continue;
        const body = review.summary.trim();
        if (comments.length === 0 && body === "") continue;
        const operation = pullRequestReview({
          repoPath: worktree,
          prNumber,
          ...(head != null && { commitSha: head }),
          ...(body !== "" && { body }),
          comments: comments.map(({ path, lines, body }) => ({
            path,
            ...(lines && { lines: { side: lines.side, from: lines.from, to: lines.to } }),
            body,
          })),
        });
        await request(scope, loop.computeTargetId ?? undefined, operation, signal);
        posted.current.add(name);
      }
      const params = { path: { idOrSlug: loop.document?.slug ?? "" } };
      const body = submissionOf(review, repositories);
      return unwrap(scope.api.POST("/change-requests/{idOrSlug}/reviews", { params, body }));
    },
    onSuccess: () => posted.current.clear(),
    onSettled: () => client.invalidateQueries({ queryKey: scope.key("change-requests") }),
  });
}
