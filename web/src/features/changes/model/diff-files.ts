import type { ChangedFile } from "@/api/types";

import { currentLine, type ReviewComment } from "./comments";
import type { DiffFile } from "./diff-file";
import type { PatchState } from "./patch-loader";
import { sideLines } from "./patch-lines";
import type { Review } from "./use-review";

/** Returns the files as the diff displays them, with the comments at the lines to which they have moved. */
export function diffFiles(
  files: readonly ChangedFile[],
  repository: string,
  patchOf: (file: ChangedFile) => PatchState | undefined,
  isOpen: (file: ChangedFile) => boolean,
  { comments, place }: Pick<Review, "comments" | "place">,
): DiffFile[] {
  const own = comments.filter((comment) => comment.repository === repository);
  return files.map((file) => {
    const { path } = file;
    const state = patchOf(file);
    const notes = own
      .filter((comment) => comment.path === path)
      .map((comment) => noteOf(comment, state));
    if (place?.repository === repository && place.path === path)
      notes.push({
        side: place.lines?.side ?? "new",
        line: place.lines?.to ?? 0,
        note: { kind: "form", lines: place.lines },
      });
    return { file, state, isOpen: isOpen(file), notes };
  });
}

function noteOf(comment: ReviewComment, state: PatchState | undefined): DiffFile["notes"][number] {
  const isOnLine = comment.text !== undefined && state !== undefined && "patch" in state;
  const line = isOnLine ? currentLine(comment, sideLines(state.patch)) : undefined;
  return {
    side: comment.side,
    line: line ?? 0,
    note: { kind: "comment", comment, isOutdated: isOnLine && line === undefined },
  };
}
