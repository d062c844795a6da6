import { expect, test } from "vitest";

import { PAGE_ROWS, pagedRows } from "./paged-rows";

/** Rows from `newest` to `oldest`. */
const rows = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, n) => newest - n);
const isAfter = (row: number, other: number) => row < other;

test("rows that a new one moves from the first page are kept", () => {
  const first = rows(101, 102 - PAGE_ROWS);
  expect(pagedRows(first, rows(100, 1), isAfter).rows).toEqual(rows(101, 1));
});

test("loaded rows are dropped when unknown ones may precede them", () => {
  const first = rows(200, 201 - PAGE_ROWS);
  expect(pagedRows(first, rows(100, 1), isAfter)).toEqual({ rows: first, isComplete: false });
});

test("first page that is not full is the whole list", () => {
  expect(pagedRows(rows(10, 2), rows(10, 1), isAfter).rows).toEqual(rows(10, 2));
});
