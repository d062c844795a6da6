import { useMemo, useRef } from "react";
import { v7 as uuidV7 } from "uuid";

import type { CommentDraft } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";

import { type ReviewedLoop, useReviews } from "../review-queries";
import { displayedComments, type LineRange, type SentComment } from "./comments";

/** Place of the comment that the person writes: lines, or the whole file. */
export interface OpenPlace {
  repository: string;
  path: string;
  /** Undefined for a comment on the file. */
  lines?: LineRange;
}

/** The form for a new comment. The diff removes it when it is out of view, so that nothing of it is its own state. */
export interface OpenForm extends OpenPlace {
  /** Id of the comment. */
  id: string;
  /** Changes when the form is opened at another place. */
  opening: string;
  /** The lines after a correction. The form stays where it was opened. */
  correctedLines?: LineRange;
}

export interface Review {
  /** Comments of the person that are not sent yet, on all repositories. */
  drafts: CommentDraft[];
  /** Comments of finished reviews. */
  sent: SentComment[];
  /** Where the form for a new comment is open. */
  place: OpenForm | null;
  open: (place: OpenPlace) => void;
  correctLines: (lines: LineRange) => void;
  /** Closes the form. Its text is offered by the next one, unless the comment was stored. */
  close: (isStored?: boolean) => void;
  /** Returns whether the person edits a stored comment. The text is a draft of its form. */
  isEdited: (id: string) => boolean;
  setEdited: (id: string, isEdited: boolean) => void;
}

/** The comments on the changes of a loop. The open form and edits are drafts of this browser. */
export function useReview(loop: ReviewedLoop, page: string): Review {
  const { drafts, reviews } = useReviews(loop);
  const place = useDraft<OpenForm | null>(page, "form", null);
  const edited = useDraft<string[]>(page, "edited", []);
  // Of this tab: another one may be writing another comment.
  const canceled = useRef<string>(undefined);
  return {
    drafts,
    sent: useMemo(() => displayedComments(reviews), [reviews]),
    place: place.value,
    open: (next) =>
      place.change((form) => ({
        ...next,
        id: form?.id ?? canceled.current ?? uuidV7(),
        opening: uuidV7(),
      })),
    correctLines: (correctedLines) => place.change((form) => form && { ...form, correctedLines }),
    close: (isStored = false) => {
      canceled.current = isStored ? undefined : place.value?.id;
      place.discard();
    },
    isEdited: (id) => edited.value.includes(id),
    setEdited: (id, isEdited) =>
      edited.change((ids) => [...ids.filter((other) => other !== id), ...(isEdited ? [id] : [])]),
  };
}
