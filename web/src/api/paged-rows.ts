/** Rows of a list in pages. Only the first page is polled; the others are loaded as the user scrolls. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect } from "react";

export const PAGE_ROWS = 50;

/** A page of a list. */
export interface Page<Row> {
  data: Row[];
  /** Number of rows on all pages, if the request asked for it. */
  total?: number | null;
}

export interface PagedList<Row> {
  /** Key of the loaded pages. */
  queryKey: QueryKey;
  /** Fetches the page after a row. */
  fetchAfter: (last: Row, signal: AbortSignal) => Promise<Page<Row>>;
  /** Returns whether a row comes after another one in the list. */
  isAfter: (row: Row, other: Row) => boolean;
}

/** Position of a page: the last row before it; none for the first page. */
interface PagePosition<Row> {
  last?: Row;
}

const startingWith = <Row>(first: Page<Row>): InfiniteData<Page<Row>, PagePosition<Row>> => ({
  pages: [first],
  pageParams: [{}],
});

/** Returns the rows of the pages that are loaded, and the total. `first` is the newest first page. */
export function usePagedRows<Row>(list: PagedList<Row>, first: Page<Row>) {
  const client = useQueryClient();
  const query = infiniteQueryOptions({
    queryKey: list.queryKey,
    queryFn: ({ pageParam: { last }, signal }) =>
      last === undefined ? Promise.resolve(first) : list.fetchAfter(last, signal),
    initialPageParam: {},
    initialData: () => startingWith(first),
    getNextPageParam: ({ data }) => {
      const last = data.at(-1);
      return last === undefined || data.length < PAGE_ROWS ? undefined : { last };
    },
    staleTime: Infinity,
  });
  const pages = useInfiniteQuery(query);
  const loaded = pages.data.pages.flatMap(({ data }) => data);
  const { rows, isComplete } = pagedRows(first.data, loaded, list.isAfter);
  useEffect(() => {
    if (!isComplete) client.setQueryData(query.queryKey, startingWith(first));
  });
  return { rows, total: first.total ?? rows.length, pages };
}

/**
 * Returns the rows of the list: the newest first page, then the loaded rows after it. Returns only the first page as
 * rows, and `isComplete` false, if there may be rows between the two.
 */
export function pagedRows<Row>(
  first: Row[],
  loaded: Row[],
  isAfter: PagedList<Row>["isAfter"],
): { rows: Row[]; isComplete: boolean } {
  const last = first.at(-1);
  if (last === undefined || first.length < PAGE_ROWS) return { rows: first, isComplete: true };
  const later = loaded.filter((row) => isAfter(row, last));
  return later.length < loaded.length
    ? { rows: [...first, ...later], isComplete: true }
    : { rows: first, isComplete: false };
}
