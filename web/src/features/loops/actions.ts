/** Resumes and cancels a loop, and sends messages to it. Not with its reads, which the first page loads. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { useScope } from "@/api/scope";
import { keyed, useKeyedMutation } from "@/api/use-keyed-mutation";
import { useRequestKey } from "@/drafts/use-request-key";
import { signatureFor } from "@/signing/commands";

// Gateway route that cancels loops. The signature of a command includes the path.
const KILL_PATH = "/api/gateway/orchestrator/loop/kill";
// Gateway route that receives messages to loops.
const MESSAGE_PATH = "/api/gateway/orchestrator/loop/message";

/**
 * Resumes a finished loop. Returns the id of the new loop that continues it. `onResumed` is also called when the page has
 * been left.
 */
export function useResumeLoop(id: string, onResumed?: () => void) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: async (prompt: string | undefined, key: string) => {
      const body = prompt === undefined ? undefined : { prompt };
      const params = { path: { id } };
      const resumed = scope.api.POST("/loops/{id}/resume", { params, body, ...keyed(key) });
      return (await unwrap(resumed)).loopId;
    },
    onSuccess: () => {
      onResumed?.();
      return client.invalidateQueries({ queryKey: scope.key("loops") });
    },
  };
  return useKeyedMutation(options, useRequestKey(`loops/${id}`, "resume"));
}

/** Sends a message to the assistant of a running loop. */
export function useSendMessage(loopId: string) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: async (text: string, key: string) => {
      const intent = { loopId, text };
      const signature = await signatureFor(scope, {
        method: "POST",
        path: MESSAGE_PATH,
        body: intent,
      });
      const body = {
        text,
        ...(signature && { userIntentSignature: { ...signature, body: intent } }),
      };
      const params = { path: { id: loopId } };
      return unwrap(scope.api.POST("/loops/{id}/messages", { params, body, ...keyed(key) }));
    },
    // Also after an error: a 409 means that the loop has finished, and the page shows an old status.
    onSettled: () => client.invalidateQueries({ queryKey: scope.key("loops", loopId) }),
  };
  return useKeyedMutation(options, useRequestKey(`loops/${loopId}`, "message"));
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
