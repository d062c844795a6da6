import { expect, test } from "vitest";

import { listRows, PAGE_ROWS } from "./rows";

/** Loops from `newest` to `oldest`, numbered by age. */
const loops = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, n) => ({
    id: String(newest - n),
    createdAt: new Date((newest - n) * 1000).toISOString(),
  }));

test("rows that a new loop moves from the first page are kept", () => {
  const { rows } = listRows(loops(101, 102 - PAGE_ROWS), loops(100, 1));
  expect(rows).toEqual(loops(101, 1));
});

test("loaded rows are dropped when unknown loops may precede them", () => {
  const first = loops(200, 201 - PAGE_ROWS);
  expect(listRows(first, loops(100, 1))).toEqual({ rows: first, isComplete: false });
});

test("first page that is not full is the whole list", () => {
  expect(listRows(loops(10, 2), loops(10, 1)).rows).toEqual(loops(10, 2));
});
