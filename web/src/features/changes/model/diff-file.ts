import type { ChangedFile } from "@/api/types";

import type { LineRange, ReviewComment, Side } from "./comments";
import type { PatchState } from "./patch-loader";

/** What is displayed below a line. */
export type LineNote =
  | { kind: "comment"; comment: ReviewComment; isOutdated: boolean }
  | { kind: "form"; lines: LineRange | undefined };

/** A file as the diff displays it. */
export interface DiffFile {
  file: ChangedFile;
  state: PatchState | undefined;
  isOpen: boolean;
  /** Notes with the line below which they are displayed; line 0 is above the first one. */
  notes: { side: Side; line: number; note: LineNote }[];
}
