/** Reads change requests, and archives, snoozes and marks them. */
import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";

import { unwrap, unwrapPage } from "@/api/client";
import { ApiError } from "@/api/errors";
import { PAGE_ROWS, usePagedRows } from "@/api/paged-rows";
import { QUIET_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { ChangeRequest, ChangeRequestPage } from "@/api/types";

import type { ChangeRequestFilters } from "./model/search";
import { isActiveState } from "./model/states";

const ACTIVE_POLL_MS = 3_000;
const KEY = "change-requests";

interface PageQuery extends ChangeRequestFilters {
  before?: string;
  beforeId?: string;
  count?: boolean;
}

/** Fetches a page. Lists in its query are separated by commas. */
function fetchPage(
  { api }: Scope,
  query: PageQuery,
  signal: AbortSignal,
): Promise<ChangeRequestPage> {
  const page = api.GET("/change-requests", {
    params: { query: { ...query, limit: PAGE_ROWS } },
    querySerializer: { array: { style: "form", explode: false } },
    signal,
  });
  return unwrapPage(page);
}

/** The first page, with the number of change requests on all pages. */
export const firstPageQuery = (scope: Scope, filters: ChangeRequestFilters) =>
  queryOptions({
    queryKey: scope.key(KEY, "first-page", filters),
    queryFn: ({ signal }) => fetchPage(scope, { ...filters, count: true }, signal),
    refetchInterval: ({ state }) =>
      (state.data?.data ?? []).some((row) => isActiveState(row.state))
        ? ACTIVE_POLL_MS
        : QUIET_POLL_MS,
  });

const isAfter = (row: ChangeRequest, other: ChangeRequest): boolean =>
  row.changedAt === other.changedAt
    ? row.document.id < other.document.id
    : row.changedAt < other.changedAt;

export function useChangeRequests(filters: ChangeRequestFilters) {
  const scope = useScope();
  const { data: first } = useSuspenseQuery(firstPageQuery(scope, filters));
  return usePagedRows(
    {
      queryKey: scope.key(KEY, "pages", filters),
      fetchAfter: ({ changedAt, document }, signal) =>
        fetchPage(scope, { ...filters, before: changedAt, beforeId: document.id }, signal),
      isAfter,
    },
    first,
  );
}

/** What needs the person: the filters of the inbox and of all counts. */
export const NEEDS_ME: ChangeRequestFilters = { attention: true, mine: true };

export const changeRequestQuery = ({ api, key }: Scope, idOrSlug: string) =>
  queryOptions({
    queryKey: key(KEY, "one", idOrSlug),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/change-requests/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
    refetchInterval: ({ state }) => {
      if (state.error instanceof ApiError && state.error.status === 404) return false;
      return state.data && isActiveState(state.data.state) ? ACTIVE_POLL_MS : QUIET_POLL_MS;
    },
  });

/** A change of the list entry of a change request. */
export type EntryChange =
  { kind: "archive"; archived: boolean } | { kind: "mark"; seen: boolean; snoozedUntil?: string };

export function useChangeEntry() {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: ({ slug, change }: { slug: string; change: EntryChange }) => {
      const params = { path: { idOrSlug: slug } };
      if (change.kind === "archive") {
        const body = { archived: change.archived };
        return unwrap(scope.api.PATCH("/change-requests/{idOrSlug}", { params, body }));
      }
      const { seen, snoozedUntil } = change;
      const body = { seen, ...(snoozedUntil !== undefined && { snoozedUntil }) };
      return unwrap(scope.api.PUT("/change-requests/{idOrSlug}/mark", { params, body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: scope.key(KEY) }),
  });
}
