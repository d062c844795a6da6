/** The list of loops. */
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";

import { unwrapPage } from "@/api/client";
import { PAGE_ROWS, usePagedRows } from "@/api/paged-rows";
import { BACKSTOP_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { Loop, LoopPage } from "@/api/types";

import type { LoopFilters } from "./model/filters";

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
  return unwrapPage(page);
}

/** The first page, with the number of loops on all pages. */
export const firstPageQuery = (scope: Scope, filters: LoopFilters) =>
  queryOptions({
    queryKey: scope.key("loops", "first-page", filters),
    queryFn: ({ signal }) => fetchPage(scope, { ...filters, count: true }, signal),
    refetchInterval: BACKSTOP_POLL_MS,
  });

const isAfter = (row: Loop, other: Loop): boolean =>
  row.createdAt === other.createdAt ? row.id < other.id : row.createdAt < other.createdAt;

export function useLoops(filters: LoopFilters) {
  const scope = useScope();
  const { data: first } = useSuspenseQuery(firstPageQuery(scope, filters));
  return usePagedRows(
    {
      queryKey: scope.key("loops", "pages", filters),
      fetchAfter: ({ id }, signal) => fetchPage(scope, { ...filters, after: id }, signal),
      isAfter,
    },
    first,
  );
}
