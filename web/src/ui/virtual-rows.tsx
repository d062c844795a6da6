/** Rows of a list of any length: only those near the viewport are in the document. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useState } from "react";

import type { usePagedRows } from "@/api/paged-rows";

import { Button } from "./button";

// In pixels: a row on a wide screen. Other rows are measured.
const ROW_HEIGHT = 65;
// Rows before the end at which the next page is loaded.
const LOAD_AHEAD = 15;

interface VirtualRowsProps<Row> {
  list: ReturnType<typeof usePagedRows<Row>>;
  keyOf: (row: Row) => string;
  /** Role of the element that contains the rows. */
  role: "rowgroup" | "list";
  /** Renders a row at a position from 0. */
  children: (row: Row, index: number) => ReactNode;
}

/** The rows scroll with the page, which loads further pages as the user comes near the end. */
export function VirtualRows<Row>({ list, keyOf, role, children }: VirtualRowsProps<Row>) {
  const { rows, pages } = list;
  // Distance of the rows from the top of the page, which scrolls.
  const [top, setTop] = useState(0);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const items = virtualizer.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - LOAD_AHEAD;
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = pages;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  return (
    <>
      <div
        ref={(element) => {
          if (element) setTop(element.getBoundingClientRect().top + window.scrollY);
        }}
        role={role}
        className="relative"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                role="presentation"
                className="absolute top-0 left-0 w-full border-line not-last:border-b"
                style={{ transform: `translateY(${start - top}px)` }}
              >
                {children(row, index)}
              </div>
            )
          );
        })}
      </div>
      {isFetchNextPageError && (
        <div className="flex items-center justify-center gap-3 px-4 py-3 text-ink-2">
          Cannot load more rows.
          <Button size="sm" onClick={() => void fetchNextPage()}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}
