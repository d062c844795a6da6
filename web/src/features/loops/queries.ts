/** Reads a loop, resumes it and cancels it. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { ApiError } from "@/api/errors";
import { type Scope, useScope } from "@/api/scope";
import { keyed, useKeyedMutation } from "@/api/use-keyed-mutation";
import { isActive } from "@/model/status";
import { signatureFor } from "@/signing/commands";

// Gateway route that cancels loops. The signature of a command includes the path.
const KILL_PATH = "/api/gateway/orchestrator/loop/kill";
const ACTIVE_POLL_MS = 3_000;

export const loopQuery = ({ api, key }: Scope, id: string) =>
  queryOptions({
    queryKey: key("loops", id),
    queryFn: ({ signal }) => unwrap(api.GET("/loops/{id}", { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => {
      if (state.error instanceof ApiError && state.error.status === 404) return false;
      return state.data !== undefined && !isActive(state.data.status) ? false : ACTIVE_POLL_MS;
    },
  });

/**
 * Resumes a finished loop. Returns the id of the new loop that continues it. `onResumed` is also called when the page has
 * been left.
 */
export function useResumeLoop(onResumed?: () => void) {
  const client = useQueryClient();
  const scope = useScope();
  return useKeyedMutation({
    mutationFn: async ({ id, prompt }: { id: string; prompt?: string }, key) => {
      const body = prompt === undefined ? undefined : { prompt };
      const params = { path: { id } };
      const resumed = scope.api.POST("/loops/{id}/resume", { params, body, ...keyed(key) });
      return (await unwrap(resumed)).loopId;
    },
    onSuccess: () => {
      onResumed?.();
      return client.invalidateQueries({ queryKey: scope.key("loops") });
    },
  });
}

export function useCancelLoop() {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async (id: string) => {
      const intent = { loopId: id };
      const signature = await signatureFor(scope, {
        method: "POST",
        path: KILL_PATH,
        body: intent,
      });
      const body = signature && { userIntentSignature: { ...signature, body: intent } };
      return unwrap(scope.api.POST("/loops/{id}/cancel", { params: { path: { id } }, body }));
    },
    // Also after an error: a 409 means that the loop has finished, and the list shows an old status.
    onSettled: () => client.invalidateQueries({ queryKey: scope.key("loops") }),
  });
}
