/** Reads change requests, and archives, snoozes and marks them. */
import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";

import { unwrap, unwrapPage } from "@/api/client";
import { PAGE_ROWS, usePagedRows } from "@/api/paged-rows";
import { BACKSTOP_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { ChangeRequest, ChangeRequestPage, SavedView } from "@/api/types";

import type { EntryChange } from "./model/entry-actions";
import type { ChangeRequestFilters } from "./model/search";
import type { EntryChanges } from "./model/undo";
import type { Grouping } from "./model/work-address";

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
    refetchInterval: BACKSTOP_POLL_MS,
  });

/** The groups of a list, with the number of change requests of each. */
export const groupsQuery = (scope: Scope, filters: ChangeRequestFilters, by: Grouping) =>
  queryOptions({
    queryKey: scope.key(KEY, "groups", filters, by),
    queryFn: ({ signal }) =>
      unwrap(
        scope.api.GET("/change-requests/groups", {
          params: { query: { ...filters, by } },
          querySerializer: { array: { style: "form", explode: false } },
          signal,
        }),
      ),
    refetchInterval: BACKSTOP_POLL_MS,
  });

/** Views of the list that the person has saved in this organization. */
export const savedViewsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("saved-views"),
    queryFn: ({ signal }) => unwrap(api.GET("/change-requests/views", { signal })),
    staleTime: 5 * 60_000,
  });

/** Replaces the saved views. */
export function useSaveViews() {
  const client = useQueryClient();
  const { api, key } = useScope();
  return useMutation({
    mutationFn: (views: SavedView[]) =>
      unwrap(api.PUT("/change-requests/views", { body: { views } })),
    onSuccess: (views) => client.setQueryData(key("saved-views"), views),
  });
}

/** Position of a change request in a list. */
export type ListPosition = Pick<ChangeRequest, "changedAt"> & { document: { id: string } };

/** Fetches the page after a change request. */
export const fetchAfter = (
  scope: Scope,
  filters: ChangeRequestFilters,
  { changedAt, document }: ListPosition,
  signal: AbortSignal,
): Promise<ChangeRequestPage> =>
  fetchPage(scope, { ...filters, before: changedAt, beforeId: document.id }, signal);

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
      fetchAfter: (last, signal) => fetchAfter(scope, filters, last, signal),
      isAfter,
    },
    first,
  );
}

/** What needs the person: the filters of the inbox and of all counts. */
export const NEEDS_ME: ChangeRequestFilters = { attention: true, mine: true };

/** All change requests of the person that wait for an approval. */
export const heldQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key(KEY, "held"),
    queryFn: async ({ signal }) => {
      const filters = { ...NEEDS_ME, state: ["waiting_for_approval" as const] };
      const held: ChangeRequest[] = [];
      for (;;) {
        const last = held.at(-1);
        const { data } = last
          ? await fetchAfter(scope, filters, last, signal)
          : await fetchPage(scope, filters, signal);
        held.push(...data);
        if (data.length < PAGE_ROWS) return held;
      }
    },
  });

/** What happened to a change request, newest first. */
export const historyQuery = ({ api, key }: Scope, idOrSlug: string) =>
  queryOptions({
    queryKey: key(KEY, "history", idOrSlug),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/change-requests/{idOrSlug}/history", { params: { path: { idOrSlug } }, signal }),
      ),
  });

const changeEntry = async ({ api }: Scope, slug: string, change: EntryChange): Promise<unknown> => {
  const params = { path: { idOrSlug: slug } };
  switch (change.kind) {
    case "archive": {
      const body = { archived: change.archived };
      return unwrap(api.PATCH("/change-requests/{idOrSlug}", { params, body }));
    }
    case "mark": {
      const { seen, snoozedUntil } = change;
      const body = { seen, ...(snoozedUntil !== undefined && { snoozedUntil }) };
      return unwrap(api.PUT("/change-requests/{idOrSlug}/mark", { params, body }));
    }
    case "delete":
      return unwrap(api.DELETE("/change-requests/{idOrSlug}", { params }));
    case "restore":
      return unwrap(api.POST("/change-requests/{idOrSlug}/restore", { params }));
  }
};

/** Changes entries. Returns the slugs of those that were changed, and the first error of the others. */
export function useChangeEntries() {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async (changes: EntryChanges) => {
      const results = await Promise.allSettled(
        changes.map(({ slug, change }) => changeEntry(scope, slug, change)),
      );
      const failed = results.filter((result) => result.status === "rejected");
      if (failed.length === changes.length) throw failed[0]?.reason;
      const changed = changes.filter((_, at) => results[at]?.status === "fulfilled");
      return { slugs: changed.map(({ slug }) => slug), error: failed[0]?.reason as unknown };
    },
    onSettled: () => client.invalidateQueries({ queryKey: scope.key(KEY) }),
  });
}
