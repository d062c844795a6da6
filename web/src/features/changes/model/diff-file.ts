import type { ChangedFile, CommentDraft } from "@/api/types";

import type { LineRange, SentComment, Side } from "./comments";
import type { ShownFinding } from "./findings";
import type { PatchState } from "./patch-loader";

/** What is displayed below a line. */
export type LineNote =
  | { kind: "draft"; comment: CommentDraft; isOutdated: boolean }
  | { kind: "sent"; comment: SentComment; isOutdated: boolean }
  | { kind: "finding"; finding: ShownFinding }
  | { kind: "form"; lines: LineRange | undefined }
  | { kind: "image" };

/** A file as the diff displays it. */
export interface DiffFile {
  file: ChangedFile;
  state: PatchState | undefined;
  isOpen: boolean;
  /** Notes with the line below which they are displayed; line 0 is above the first one. */
  notes: { side: Side; line: number; note: LineNote }[];
}
