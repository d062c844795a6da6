import { useRef } from "react";
import { v7 as uuidV7 } from "uuid";

import { useDraft } from "@/drafts/use-draft";
import { useRequestKey } from "@/drafts/use-request-key";

import { type PlanComment, type Review, withoutSent } from "./change-request";
import { draftPage } from "./draft-page";
import type { QuestionAnswer } from "./open-questions";
import type { PassageAnchor } from "./text-anchor";

const EMPTY: Review = { comments: [], answers: {} };

export type ReviewDraft = ReturnType<typeof useReview>;

/** Unsent comments on a plan and answers to its questions. One component of a page may use it. */
export function useReview(planId: string) {
  const page = draftPage(planId);
  const draft = useDraft(page, "review", EMPTY);
  const requestKey = useRequestKey(page, "request changes");
  const sent = useRef(EMPTY);
  const change = (update: (review: Review) => Review) => {
    // With the text: another tab that shows it sends the same request.
    requestKey.keep(requestKey.value);
    draft.change(update);
  };
  const changeComments = (update: (comments: PlanComment[]) => PlanComment[]) =>
    change((review) => ({ ...review, comments: update(review.comments) }));
  return {
    draft,
    review: draft.value,
    /** Adds an empty comment. Returns its id. */
    addComment: (anchor?: PassageAnchor): string => {
      const id = uuidV7();
      changeComments((comments) => [...comments, { id, text: "", ...(anchor && { anchor }) }]);
      return id;
    },
    /** Adds comments with their texts. */
    addComments: (added: Omit<PlanComment, "id">[]) =>
      changeComments((comments) => [
        ...comments,
        ...added.map((comment) => ({ ...comment, id: uuidV7() })),
      ]),
    changeComment: (id: string, text: string) =>
      changeComments((comments) =>
        comments.map((comment) => (comment.id === id ? { ...comment, text } : comment)),
      ),
    removeComment: (id: string) =>
      changeComments((comments) => comments.filter((comment) => comment.id !== id)),
    answer: (id: string, answer: QuestionAnswer) =>
      change((review) => ({ ...review, answers: { ...review.answers, [id]: answer } })),
    requestKey,
    /** Notes what a request contains. */
    send: (parts: Review) => {
      sent.current = parts;
    },
    /** Removes what the request contained. What the person has written since is kept. */
    removeSent: () => {
      const rest = withoutSent(draft.value, sent.current);
      if (rest.comments.length === 0 && Object.keys(rest.answers).length === 0) draft.discard();
      else draft.change((review) => withoutSent(review, sent.current));
    },
  };
}
