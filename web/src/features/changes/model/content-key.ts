import type { ChangedFile } from "@/api/types";

/** Returns a text that changes with the content of a file. */
export const contentKey = ({ path, hash, status, additions, deletions }: ChangedFile): string =>
  `${path} ${hash ?? `${status} ${additions} ${deletions}`}`;
