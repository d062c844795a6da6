/** Reads what a loop changed, from the machine that has its worktree, and starts a loop on the comments of a review. */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import { documentQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import { type Scope, useScope } from "@/api/scope";
import type { LoopDetail, LoopPatches, PatchesRequest } from "@/api/types";
import { useKeyedMutation } from "@/api/use-keyed-mutation";
import { type ChangeRange, loopChanges, loopPatches } from "@/gateway/operations";
import { request } from "@/gateway/request";
import { isActive } from "@/model/status";
import { runLoop } from "@/signing/run-loop";

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
