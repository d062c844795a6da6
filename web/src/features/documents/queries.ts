/** Reads documents and their versions, and starts loops on them. */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";
import { useKeyedMutation } from "@/api/use-keyed-mutation";
import { type RunDocument, runLoop } from "@/signing/run-loop";

export const documentQuery = ({ api, key }: Scope, idOrSlug: string) =>
  queryOptions({
    queryKey: key("documents", idOrSlug),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/documents/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
  });

/** Text of a version of a document. Versions never change. */
export const documentVersionQuery = ({ api, key }: Scope, idOrSlug: string, version: number) =>
  queryOptions({
    queryKey: key("documents", idOrSlug, "versions", version),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/documents/{idOrSlug}/versions/{version}", {
          params: { path: { idOrSlug, version } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });

/** Starts a loop on a document. Returns the id of the loop. */
export function useRunDocument() {
  const client = useQueryClient();
  const scope = useScope();
  return useKeyedMutation({
    mutationFn: (input: RunDocument, key) => runLoop(scope, input, key),
    // Also after an error: another version of the document may be current.
    onSettled: () =>
      Promise.all(
        ["loops", "documents"].map((key) => client.invalidateQueries({ queryKey: scope.key(key) })),
      ),
  });
}
