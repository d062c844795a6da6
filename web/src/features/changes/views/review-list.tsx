import { useState } from "react";
import { v7 as uuidV7 } from "uuid";

import type { ChangeReview } from "@/api/types";
import { ago, moment } from "@/model/format";
import { ActionError } from "@/ui/action-error";
import { useNow } from "@/ui/clock";

import { reviewCounts, sentComments } from "../model/comments";
import { type ReviewedLoop, useStoreDraft } from "../review-queries";
import { SentCard } from "./sent-card";

const KINDS: Record<ChangeReview["kind"], string> = {
  request_changes: "Changes requested",
  comment: "Comments",
  approve: "Approved",
};

/** The finished reviews with all comments and answers, also of files that are no longer changed. */
export function ReviewList({
  loop,
  reviews,
  linked,
  onCommit,
}: {
  loop: ReviewedLoop;
  reviews: readonly ChangeReview[];
  /** Id of the comment to show. */
  linked: string | undefined;
  onCommit: ((repository: string, commit: string) => void) | undefined;
}) {
  const [focused, setFocused] = useState(linked);
  const now = useNow(30_000);
  const store = useStoreDraft(loop);
  if (reviews.length === 0) return null;
  return (
    <ul aria-label="Reviews" className="space-y-2">
      {reviews.map((review) => (
        <li key={review.id} className="rounded-md border border-line">
          <details open={review.comments.some(({ id }) => id === linked)}>
            <summary className="cursor-pointer px-3 py-2 text-sm">
              <span className="font-medium">{KINDS[review.kind]}</span>{" "}
              <span className="text-ink-3" title={moment(review.createdAt)}>
                {ago(review.createdAt, now)}
              </span>
              {review.comments.length > 0 && ` · ${reviewCounts(review)}`}
            </summary>
            {review.summary != null && (
              <p dir="auto" className="px-3 pb-2 wrap-anywhere whitespace-pre-wrap">
                {review.summary}
              </p>
            )}
            {sentComments(review).map((comment) => (
              <SentCard
                key={comment.id}
                comment={comment}
                focus={{ focused, setFocused }}
                onCommit={onCommit && ((commit) => onCommit(comment.repository, commit))}
                onRepeat={() => store.mutate({ ...comment, id: uuidV7() })}
              />
            ))}
          </details>
        </li>
      ))}
      {store.error && <ActionError title="The comment could not be stored" error={store.error} />}
    </ul>
  );
}
