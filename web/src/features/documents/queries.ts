/** Reads documents and their versions, and starts loops on them. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { runLoop } from "@/signing/run-loop";

export const documentQuery = (idOrSlug: string) =>
  queryOptions({
    queryKey: ["documents", idOrSlug],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/documents/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
  });

/** Text of a version of a document. Versions never change. */
export const documentVersionQuery = (idOrSlug: string, version: number) =>
  queryOptions({
    queryKey: ["documents", idOrSlug, "versions", version],
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
  return useMutation({
    mutationFn: runLoop,
    // Also after an error: another version of the document may be current.
    onSettled: () =>
      Promise.all(
        ["loops", "documents"].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
  });
}
