import { Trash2 } from "lucide-react";

import { Button } from "@/ui/button";

import { placeOf, type ReviewComment } from "../model/comments";

/** A comment that is not sent yet. */
export function CommentCard({
  comment,
  isOutdated,
  onRemove,
}: {
  comment: ReviewComment;
  /** Whether the diff no longer contains its line. */
  isOutdated?: boolean;
  onRemove: () => void;
}) {
  const place = placeOf(comment);
  return (
    <article
      aria-label={`Comment on ${place}`}
      className="flex items-start gap-2 border-y border-line bg-raised px-3 py-2 font-sans text-base whitespace-normal text-ink"
    >
      <div className="min-w-0 flex-1">
        <p className="text-xs text-ink-3" dir="auto">
          {place}
          {isOutdated && " · this line has changed since"}
        </p>
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {comment.body}
        </p>
      </div>
      <Button
        variant="quiet"
        size="icon"
        title="Delete"
        aria-label={`Delete the comment on ${place}`}
        onClick={onRemove}
      >
        <Trash2 aria-hidden />
      </Button>
    </article>
  );
}
