import { useMemo } from "react";

import type { CommentDraft } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";

import { type ReviewedLoop, useReviews } from "../review-queries";
import { displayedComments, type LineRange, type SentComment } from "./comments";
import type { PatchState } from "./patch-loader";
import { firstChange } from "./patch-lines";

/** Place of the comment that the person writes: lines, or the whole file. */
export interface OpenPlace {
  repository: string;
  path: string;
  /** Undefined for a comment on the file. */
  lines?: LineRange;
}

export interface Review {
  /** Comments of the person that are not sent yet, on all repositories. */
  drafts: CommentDraft[];
  /** Comments of finished reviews. */
  sent: SentComment[];
  /** Where the form for a new comment is open. */
  place: OpenPlace | null;
  open: (place: OpenPlace) => void;
  /** Opens the form at the first changed line, or for the file if it has none. */
  openAtFirstChange: (repository: string, path: string, state: PatchState | undefined) => void;
  close: () => void;
}

/** The comments on the changes of a loop. The open form is a draft of this browser. */
export function useReview(loop: ReviewedLoop, page: string): Review {
  const { drafts, reviews } = useReviews(loop);
  const place = useDraft<OpenPlace | null>(page, "place", null);
  const open = (next: OpenPlace) => place.change(() => next);
  return {
    drafts,
    sent: useMemo(() => displayedComments(reviews), [reviews]),
    place: place.value,
    open,
    openAtFirstChange: (repository, path, state) => {
      const first = state && "patch" in state ? firstChange(state.patch) : undefined;
      open({
        repository,
        path,
        ...(first && { lines: { side: first.side, from: first.line, to: first.line } }),
      });
    },
    close: place.discard,
  };
}
