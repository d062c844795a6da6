import type { ChangedFile, CommentPlace, LocatedLine } from "@/api/types";

import type { Side } from "./comments";
import { type DiffFile, type LineNote, noteId } from "./diff-file";
import type { ShownFinding } from "./findings";
import { isImagePath } from "./image";
import type { PatchState } from "./patch-loader";
import { sideLines } from "./patch-lines";
import type { Review } from "./use-review";

/** Where the lines of comments are now, by the id of the comment. */
export type CommentLines = ReadonlyMap<string, LocatedLine>;

export interface DiffOptions {
  findings: readonly ShownFinding[];
  /** Whether the new side of the comparison is the current files, to which the lines of findings refer. */
  hasCurrentLines: boolean;
  showsImages: boolean;
}

/** Returns the files as the diff displays them, with the comments at the lines to which they have moved. */
export function diffFiles(
  files: readonly ChangedFile[],
  repository: string,
  patchOf: (file: ChangedFile) => PatchState | undefined,
  isOpen: (file: ChangedFile) => boolean,
  { drafts, sent, place }: Pick<Review, "drafts" | "sent" | "place">,
  located: CommentLines,
  { findings, hasCurrentLines, showsImages }: DiffOptions,
): DiffFile[] {
  return files.map((file) => {
    const { path } = file;
    // The patch of a file that has become binary is that of its earlier text.
    const state = file.binary ? undefined : patchOf(file);
    const isHere = (other: Pick<CommentPlace, "repository" | "path">) =>
      other.repository === repository && other.path === path;
    const noteOf = (
      comment: CommentPlace & { id: string },
      note: (isOutdated: boolean) => LineNote,
    ) => {
      const now = located.get(comment.id);
      const line = now?.line ?? comment.lines?.to;
      const isDisplayed =
        line !== undefined && comment.lines && hasLine(state, comment.lines.side, line);
      return {
        side: comment.lines?.side ?? ("new" as const),
        line: isDisplayed && !now?.outdated ? line : 0,
        note: note(now?.outdated ?? false),
      };
    };
    const notes: DiffFile["notes"] = [
      ...(showsImages && file.binary && isImagePath(path)
        ? [{ side: "new" as const, line: 0, note: { kind: "image" as const } }]
        : []),
      ...findings
        .filter(({ first }) => first.path === path)
        .map((finding) => ({
          side: "new" as const,
          line: hasCurrentLines ? findingLine(finding, state) : 0,
          note: { kind: "finding" as const, finding },
        })),
      ...sent
        .filter(isHere)
        .map((comment) => noteOf(comment, (isOutdated) => ({ kind: "sent", comment, isOutdated }))),
      ...drafts
        .filter(isHere)
        .map((comment) =>
          noteOf(comment, (isOutdated) => ({ kind: "draft", comment, isOutdated })),
        ),
    ];
    if (place && isHere(place)) {
      const { side = "new", to = 0 } = place.lines ?? {};
      // The loop may have removed the lines while the person writes.
      const isDisplayed = state === undefined || hasLine(state, side, to);
      notes.push({
        side,
        line: isDisplayed ? to : 0,
        note: { kind: "form", lines: place.lines },
      });
    }
    return { file, state, isOpen: isOpen(file), notes };
  });
}

/** Returns where the note with an id is displayed; line 0 is above the first one. */
export function placeOfNote(
  files: readonly DiffFile[],
  id: string | undefined,
): { path: string; side: Side; line: number } | undefined {
  for (const { file, notes } of files) {
    const found = notes.find(({ note }) => noteId(note) === id);
    if (found) return { path: file.path, side: found.side, line: found.line };
  }
  return undefined;
}

/** Returns the line of a finding; 0 if the patch does not contain it. */
function findingLine({ first: { line, isOutdated } }: ShownFinding, state: PatchState | undefined) {
  const isDisplayed = line !== undefined && !isOutdated && hasLine(state, "new", line);
  return isDisplayed ? line : 0;
}

/** Returns whether a patch contains a line. The viewer displays a note only at such a line. */
const hasLine = (state: PatchState | undefined, side: "old" | "new", line: number): boolean =>
  state !== undefined && "patch" in state && sideLines(state.patch)[side].has(line);
