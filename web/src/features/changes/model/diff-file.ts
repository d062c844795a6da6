import type { ChangedFile, CommentDraft } from "@/api/types";

import type { LineRange, SentComment, Side } from "./comments";
import type { ShownFinding } from "./findings";
import type { PatchState } from "./patch-loader";

/** The viewer's names of the sides. Here, because the viewer is another chunk. */
export const SIDES = { old: "deletions", new: "additions" } as const;

/** A comment below a line, or the form for one. */
export type CommentNote =
  | { kind: "draft"; comment: CommentDraft; isOutdated: boolean }
  | { kind: "sent"; comment: SentComment; isOutdated: boolean }
  | { kind: "form"; lines: LineRange | undefined };

/** What is displayed below a line. */
export type LineNote = CommentNote | { kind: "finding"; finding: ShownFinding } | { kind: "image" };

/** Returns what identifies a note; undefined for an image. */
export function noteId(note: LineNote): string | undefined {
  switch (note.kind) {
    case "draft":
    case "sent":
      return note.comment.id;
    case "finding":
      return note.finding.id;
    case "form":
      return "form";
    case "image":
      return undefined;
  }
}

/** Returns the id of the card of a note: unlike its place, it stays when notes are added before it. */
export const cardId = (note: LineNote, path: string): string => noteId(note) ?? `image of ${path}`;

/** A file as the diff displays it. */
export interface DiffFile {
  file: ChangedFile;
  state: PatchState | undefined;
  isOpen: boolean;
  /** Notes with the line below which they are displayed; line 0 is above the first one. */
  notes: { side: Side; line: number; note: LineNote }[];
}
