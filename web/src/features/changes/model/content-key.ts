import type { ChangedFile } from "@/api/types";

import type { PatchState } from "./patch-loader";

/** Returns a text that changes with the content of a file. */
export const contentKey = ({ path, hash, status, additions, deletions }: ChangedFile): string =>
  `${path} ${hash ?? `${status} ${additions} ${deletions}`}`;

/** Returns whether a patch is that of the content of a file, and not of an earlier one. */
export const isCurrent = (file: ChangedFile, state: PatchState | undefined): state is PatchState =>
  state?.key === contentKey(file);
