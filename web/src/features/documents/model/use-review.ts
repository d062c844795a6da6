import { useState } from "react";

import { useDraft } from "@/drafts/use-draft";

import type { PlanComment, Review } from "./change-request";
import type { QuestionAnswer } from "./open-questions";
import type { PassageAnchor } from "./text-anchor";

const emptyReview = (): Review => ({ comments: [], answers: {}, key: crypto.randomUUID() });

export type ReviewDraft = ReturnType<typeof useReview>;

/** Unsent comments on a plan and answers to its questions. One component of a page may use it. */
export function useReview(planId: string) {
  const [initial, setInitial] = useState(emptyReview);
  const draft = useDraft("plans/" + planId, "review", initial);
  const changeComments = (change: (comments: PlanComment[]) => PlanComment[]) =>
    draft.change((review) => ({ ...review, comments: change(review.comments) }));
  return {
    draft,
    review: draft.value,
    /** Adds an empty comment. Returns its id. */
    addComment: (anchor?: PassageAnchor): string => {
      const id = crypto.randomUUID();
      changeComments((comments) => [...comments, { id, text: "", ...(anchor && { anchor }) }]);
      return id;
    },
    changeComment: (id: string, text: string) =>
      changeComments((comments) =>
        comments.map((comment) => (comment.id === id ? { ...comment, text } : comment)),
      ),
    removeComment: (id: string) =>
      changeComments((comments) => comments.filter((comment) => comment.id !== id)),
    answer: (id: string, answer: QuestionAnswer) =>
      draft.change((review) => ({ ...review, answers: { ...review.answers, [id]: answer } })),
    replaceKey: (key: string) => draft.change((review) => ({ ...review, key })),
    /** Removes the answers, after they were sent. */
    removeAnswers: () =>
      draft.value.comments.length > 0
        ? draft.change((review) => ({ ...review, answers: {} }))
        : draft.discard(),
    /** Removes everything, after it was sent. The next request has another key. */
    discard: () => {
      draft.discard();
      setInitial(emptyReview());
    },
  };
}
