import type { Loop } from "@/api/types";

export const PAGE_ROWS = 50;

type Position = Pick<Loop, "createdAt" | "id">;

const isAfter = (row: Position, other: Position): boolean =>
  row.createdAt === other.createdAt ? row.id < other.id : row.createdAt < other.createdAt;

/**
 * Returns the rows of the list: the newest first page, then the loaded rows after it. Returns only the first page as
 * rows, and `isComplete` false, if there may be loops between the two.
 */
export function listRows<Row extends Position>(
  first: Row[],
  loaded: Row[],
): { rows: Row[]; isComplete: boolean } {
  const last = first.at(-1);
  if (!last || first.length < PAGE_ROWS) return { rows: first, isComplete: true };
  const later = loaded.filter((row) => isAfter(row, last));
  return later.length < loaded.length
    ? { rows: [...first, ...later], isComplete: true }
    : { rows: first, isComplete: false };
}
