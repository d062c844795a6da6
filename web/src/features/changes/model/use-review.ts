import { useDraft } from "@/drafts/use-draft";

import type { LineRange, ReviewComment } from "./comments";
import type { PatchState } from "./patch-loader";
import { firstChange, sideLines } from "./patch-lines";

/** Place of the comment that the person writes: lines, or the whole file. */
export interface CommentPlace {
  repository: string;
  path: string;
  /** Undefined for a comment on the file. */
  lines?: LineRange;
}

export interface Review {
  comments: ReviewComment[];
  /** Where the form for a new comment is open. */
  place: CommentPlace | null;
  open: (place: CommentPlace) => void;
  /** Opens the form at the first changed line, or for the file if it has none. */
  openAtFirstChange: (repository: string, path: string, state: PatchState | undefined) => void;
  close: () => void;
  add: (comment: Omit<ReviewComment, "id">) => void;
  remove: (id: string) => void;
  /** Removes all comments, after they were sent. */
  clear: () => void;
}

/** The comments of a review that was not finished, as drafts of this person on a change request. */
export function useReview(page: string): Review {
  const comments = useDraft<ReviewComment[]>(page, "comments", []);
  const place = useDraft<CommentPlace | null>(page, "place", null);
  const open = (next: CommentPlace) => place.change(() => next);
  return {
    comments: comments.value,
    place: place.value,
    open,
    openAtFirstChange: (repository, path, state) => {
      const lines = state && "patch" in state ? sideLines(state.patch) : undefined;
      const first = lines && firstChange(lines);
      open({
        repository,
        path,
        ...(first && { lines: { side: first.side, from: first.line, to: first.line } }),
      });
    },
    close: place.discard,
    add: (comment) =>
      comments.change((others) => [...others, { ...comment, id: crypto.randomUUID() }]),
    remove: (id) => comments.change((others) => others.filter((comment) => comment.id !== id)),
    clear: comments.discard,
  };
}
