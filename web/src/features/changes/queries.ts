/** Reads what a loop changed, from the machine that has its worktree, and starts a loop on the comments of a review. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { documentQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import { type Scope, useScope } from "@/api/scope";
import type { LoopDetail, LoopPatches, PatchesRequest, RepositoryChanges } from "@/api/types";
import { useKeyedMutation } from "@/api/use-keyed-mutation";
import {
  type ChangeRange,
  loopChanges,
  loopPatches,
  pullRequestComment,
} from "@/gateway/operations";
import { request } from "@/gateway/request";
import { isActive } from "@/model/status";
import { runLoop } from "@/signing/run-loop";

import { placeOf, type ReviewComment } from "./model/comments";

// While the loop works, its files change often. One list takes the machine about 100 ms.
const WORKING_POLL_MS = 5_000;

/** A loop and the machine that has its worktree. */
export type ChangesLoop = Pick<LoopDetail, "id" | "status" | "computeTargetId">;

export const changesQuery = (scope: Scope, loop: ChangesLoop, range: ChangeRange) =>
  queryOptions({
    queryKey: scope.key("gateway", "loop-changes", loop.id, range),
    queryFn: ({ signal }) =>
      request(scope, loop.computeTargetId ?? undefined, loopChanges(loop.id, range), signal),
    refetchInterval: isActive(loop.status) ? WORKING_POLL_MS : false,
    retry: false,
  });

/** Returns the patches of files. */
export async function readPatches(
  scope: Scope,
  loop: ChangesLoop,
  body: PatchesRequest,
): Promise<LoopPatches> {
  const { signal } = new AbortController();
  const operation = loopPatches(loop.id, body);
  return (await request(scope, loop.computeTargetId ?? undefined, operation, signal)).data;
}

/** Starts one loop on the plan of another one, with all comments of a review. Returns its id. */
export function useRequestChanges(loop: Pick<LoopDetail, "document" | "repo">) {
  const client = useQueryClient();
  const scope = useScope();
  return useKeyedMutation({
    mutationFn: async (prompt: string, key) => {
      if (!loop.document) throw new Error("This loop has no plan on which a new loop can work.");
      const documentId = loop.document.slug;
      // The current version: the comments are about code, not about the plan.
      const plan = await queryClient.query({ ...documentQuery(scope, documentId), staleTime: 0 });
      const start = {
        documentId,
        command: "execute" as const,
        version: plan.currentVersion,
        content: plan.content,
        prompt,
        ...(loop.repo && { repo: loop.repo }),
      };
      return runLoop(scope, start, key);
    },
    onSettled: () => client.invalidateQueries({ queryKey: scope.key("loops") }),
  });
}

/** Returns the number of the pull request that a loop opened for a repository. */
export function pullRequestOf(loop: LoopDetail, repository: string): number | undefined {
  const entry = loop.results?.find(
    ({ status, fullName }) => status === "success" && fullName === repository,
  );
  if (entry?.status === "success") return entry.prNumber;
  return loop.repo?.fullName === repository ? (loop.prNumber ?? undefined) : undefined;
}

/**
 * Posts comments to a pull request, in their order. `onPosted` is called for each of them, so that after a failure only
 * the others are sent again.
 */
export function usePostComments(
  loop: ChangesLoop,
  { worktree, head }: RepositoryChanges,
  onPosted: (comment: ReviewComment) => void,
) {
  const scope = useScope();
  return useMutation({
    mutationFn: async ({
      comments,
      prNumber,
    }: {
      comments: readonly ReviewComment[];
      prNumber: number;
    }) => {
      const { signal } = new AbortController();
      for (const comment of comments) {
        const isOnLine = comment.side === "new" && comment.text !== undefined;
        const operation = pullRequestComment({
          repoPath: worktree ?? "",
          prNumber,
          path: comment.path,
          commitSha: head,
          // The code host knows lines of the new side only.
          ...(isOnLine ? { line: comment.to } : {}),
          body: isOnLine ? comment.body : `${placeOf(comment)}\n\n${comment.body}`,
        });
        await request(scope, loop.computeTargetId ?? undefined, operation, signal);
        onPosted(comment);
      }
    },
  });
}
