/** Reads what a loop changed, from the machine that has its worktree. */
import { hashKey, queryOptions } from "@tanstack/react-query";

import { unlessMissing } from "@/api/queries";
import type { Scope } from "@/api/scope";
import type {
  ChangedFile,
  LoopChanges,
  LoopDetail,
  LoopPatches,
  PatchesRequest,
  RepositoryChanges,
} from "@/api/types";
import { type ChangeRange, fileVersions, loopChanges, loopPatches } from "@/gateway/operations";
import { type GatewayResult, request } from "@/gateway/request";
import { isActive, isWaiting } from "@/model/status";

import { contentKey } from "./model/content-key";

// While the loop works, its files change often. One list takes the machine about 100 ms.
const WORKING_POLL_MS = 5_000;

/** A loop and the machine that has its worktree. */
export type ChangesLoop = PatchesLoop & Pick<LoopDetail, "status">;

/** What a request for patches needs: it does not depend on the status of the loop. */
export type PatchesLoop = Pick<LoopDetail, "id" | "computeTargetId">;

export const changesQuery = (scope: Scope, loop: ChangesLoop, range: ChangeRange) => {
  const key = scope.key("gateway", "loop-changes", loop.id, range);
  return queryOptions({
    // Read again when the loop has ended: it may have changed files since the last poll.
    queryKey: [...key, isActive(loop.status)],
    placeholderData: (previous: GatewayResult<LoopChanges> | undefined, query) =>
      query && hashKey(query.queryKey.slice(0, -1)) === hashKey(key) ? previous : undefined,
    queryFn: ({ signal }) =>
      request(scope, loop.computeTargetId ?? undefined, loopChanges(loop.id, range), signal),
    enabled: !isWaiting(loop.status),
    refetchInterval: isActive(loop.status) && unlessMissing(WORKING_POLL_MS),
    retry: false,
  });
};

/** Returns the patches of files. */
export async function readPatches(
  scope: Scope,
  loop: PatchesLoop,
  body: PatchesRequest,
): Promise<LoopPatches> {
  const { signal } = new AbortController();
  const operation = loopPatches(loop.id, body);
  return (await request(scope, loop.computeTargetId ?? undefined, operation, signal)).data;
}

export interface ImageVersions {
  /** Content in Base64. Absent for a file that did not exist. */
  before?: string | undefined;
  after?: string | undefined;
}

/** Both versions of a changed image. */
export const imageQuery = (
  scope: Scope,
  loop: ChangesLoop,
  { worktree, base }: Pick<RepositoryChanges, "worktree" | "base">,
  file: ChangedFile,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "image", loop.id, worktree, contentKey(file)),
    queryFn: async ({ signal }): Promise<ImageVersions> => {
      const read = (baseBranch?: string) =>
        request(
          scope,
          loop.computeTargetId ?? undefined,
          fileVersions(worktree ?? "", file.path, baseBranch),
          signal,
        );
      // The gateway refuses to compare what does not differ: changes may be committed, not committed, or both.
      const [committed, working] = await Promise.allSettled([
        base
          ? read(base.name ?? undefined)
          : Promise.reject(new Error("The repository had no commit.")),
        read(),
      ]);
      const first = committed.status === "fulfilled" ? committed.value.data : undefined;
      const last = working.status === "fulfilled" ? working.value.data : undefined;
      const [oldest, newest] = [first ?? last, last ?? first];
      if (!oldest || !newest)
        throw working.status === "rejected" ? working.reason : new Error("No content.");
      return {
        before: oldest.oldContentBase64 ?? undefined,
        after: newest.newContentBase64 ?? undefined,
      };
    },
    staleTime: Infinity,
    retry: false,
  });
