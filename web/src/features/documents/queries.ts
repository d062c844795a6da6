/** Reads documents, their versions and loops, and stores versions. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { unwrap } from "@/api/client";
import { BACKSTOP_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { operations } from "@/api/control-plane.gen";
import type { Document } from "@/api/types";
import { isActive, STATUSES } from "@/model/status";

const ACTIVE_STATUSES = STATUSES.filter(isActive);
/** Loops from which an estimate is derived. */
const ESTIMATE_LOOPS = 20;

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
    staleTime: "static",
  });

/** What a finished loop received and uploaded. It does not change any more. */
export const loopRecordQuery = ({ api, key }: Scope, id: string | undefined) =>
  queryOptions({
    queryKey: key("documents", "loops", id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/loops/{id}", { params: { path: { id: id ?? "" } }, signal })),
    enabled: id !== undefined,
    staleTime: "static",
  });

/** Fetches a document again when its active loops have ended: they may have created a version. */
export function useRefreshAfterLoops({ id, loops }: Pick<Document, "id" | "loops">): void {
  const client = useQueryClient();
  const scope = useScope();
  const isActiveNow = loops.some(({ status }) => isActive(status));
  const { data: active, dataUpdatedAt } = useQuery({
    queryKey: scope.key("loops", "active", id),
    queryFn: ({ signal }) =>
      fetchLoops(scope, { documentId: id, status: ACTIVE_STATUSES, limit: 1 }, signal),
    enabled: isActiveNow,
    // Not the document, which contains the whole plan.
    refetchInterval: BACKSTOP_POLL_MS,
  });
  const hasEnded = isActiveNow && active?.length === 0;
  useEffect(() => {
    if (hasEnded) void client.invalidateQueries({ queryKey: scope.key("documents") });
  }, [hasEnded, dataUpdatedAt, client, scope]);
}

type LoopsQuery = NonNullable<operations["loops_list"]["parameters"]["query"]>;

/** Lists in the query are separated by commas. */
const fetchLoops = ({ api }: Pick<Scope, "api">, query: LoopsQuery, signal: AbortSignal) =>
  unwrap(
    api.GET("/loops", {
      params: { query },
      querySerializer: { array: { style: "form", explode: false } },
      signal,
    }),
  );

/** The last completed EXECUTE loops of a repository. */
export const executionsQuery = ({ api, key }: Scope, repository: string) =>
  queryOptions({
    queryKey: key("loops", "executions", repository),
    queryFn: async ({ signal }) => {
      const loops = await fetchLoops(
        { api },
        { command: ["EXECUTE"], status: ["COMPLETED"], text: repository, limit: ESTIMATE_LOOPS },
        signal,
      );
      // The text is also searched for in titles and requests.
      return loops.filter(({ repo }) => repo?.fullName === repository);
    },
    staleTime: 60_000,
  });

/** Stores a text as the next version after `version`. Refused when another one is current. */
export function useSaveVersion(
  documentId: string,
  onSaved: (content: string, version: number) => void,
) {
  const client = useQueryClient();
  const { api, key } = useScope();
  return useMutation({
    mutationFn: (body: { content: string; version: number }) =>
      unwrap(
        api.POST("/documents/{idOrSlug}/versions", {
          params: { path: { idOrSlug: documentId } },
          body,
        }),
      ),
    onSuccess: (saved, { content }) => {
      // Before the editor closes: the page does not show the version before once more.
      client.setQueriesData<Partial<Document>>({ queryKey: key("documents") }, (known) =>
        known?.id === saved.id ? saved : known,
      );
      onSaved(content, saved.currentVersion);
    },
    onSettled: () => client.invalidateQueries({ queryKey: key("documents") }),
  });
}
