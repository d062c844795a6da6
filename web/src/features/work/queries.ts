/** The list of loops. Only its first page is polled; the others are loaded as the user scrolls. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { useEffect } from "react";

import { unwrap } from "@/api/client";
import { QUIET_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { LoopPage } from "@/api/types";
import { isActive } from "@/model/status";

import type { LoopFilters } from "./model/filters";
import { listRows, PAGE_ROWS } from "./model/rows";

const ACTIVE_POLL_MS = 3_000;

/** Fetches a page. Lists in its query are separated by commas. */
function fetchPage(
  { api }: Scope,
  query: LoopFilters & { after?: string; count?: boolean },
  signal: AbortSignal,
): Promise<LoopPage> {
  const page = api.GET("/loops", {
    params: { query: { ...query, limit: PAGE_ROWS } },
    querySerializer: { array: { style: "form", explode: false } },
    signal,
  });
  // The page with its total, not only the rows in it.
  return unwrap(page.then(({ data, ...rest }) => ({ ...rest, ...(data && { data: { data } }) })));
}

/** The first page, with the number of loops on all pages. */
export const firstPageQuery = (scope: Scope, filters: LoopFilters) =>
  queryOptions({
    queryKey: scope.key("loops", "first-page", filters),
    queryFn: ({ signal }) => fetchPage(scope, { ...filters, count: true }, signal),
    refetchInterval: ({ state }) =>
      (state.data?.data ?? []).some((loop) => isActive(loop.status))
        ? ACTIVE_POLL_MS
        : QUIET_POLL_MS,
  });

const startingWith = (first: LoopPage): InfiniteData<LoopPage, string | undefined> => ({
  pages: [first],
  pageParams: [undefined],
});

/** All loaded pages, starting with the first one as it was when the list was opened. */
const loadedPagesQuery = (scope: Scope, filters: LoopFilters, first: LoopPage) =>
  infiniteQueryOptions({
    queryKey: scope.key("loops", "pages", filters),
    queryFn: ({ pageParam: after, signal }) =>
      fetchPage(scope, { ...filters, ...(after !== undefined && { after }) }, signal),
    initialPageParam: undefined as string | undefined,
    initialData: () => startingWith(first),
    getNextPageParam: ({ data }) => (data.length < PAGE_ROWS ? undefined : data.at(-1)?.id),
    staleTime: Infinity,
  });

export function useLoops(filters: LoopFilters) {
  const client = useQueryClient();
  const scope = useScope();
  const { data: first } = useSuspenseQuery(firstPageQuery(scope, filters));
  const query = loadedPagesQuery(scope, filters, first);
  const pages = useInfiniteQuery(query);
  const loaded = pages.data.pages.flatMap(({ data }) => data);
  const { rows, isComplete } = listRows(first.data, loaded);
  useEffect(() => {
    if (!isComplete) client.setQueryData(query.queryKey, startingWith(first));
  });
  return { rows, total: first.total ?? rows.length, pages };
}
