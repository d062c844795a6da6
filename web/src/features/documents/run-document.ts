import { useQueryClient } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import { type RequestKey, useKeyedMutation } from "@/api/use-keyed-mutation";
import { type RunDocument, runLoop } from "@/signing/run-loop";

/**
 * Starts a loop on a document. Returns the id of the loop. `onStarted` is also called when the page has been left.
 */
export function useRunDocument(requestKey: RequestKey, onStarted: () => void) {
  const client = useQueryClient();
  const scope = useScope();
  return useKeyedMutation(
    {
      mutationFn: (input: RunDocument, key) => runLoop(scope, input, key),
      onSuccess: onStarted,
      // Also after an error: another version of the document may be current.
      onSettled: () =>
        Promise.all(
          ["loops", "documents"].map((key) =>
            client.invalidateQueries({ queryKey: scope.key(key) }),
          ),
        ),
    },
    requestKey,
  );
}
