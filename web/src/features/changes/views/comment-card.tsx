import { Trash2 } from "lucide-react";
import type { ReactNode } from "react";

import type { CommentDraft, CommentPlace } from "@/api/types";
import { Button } from "@/ui/button";

import { placeOf } from "../model/comments";

/** A comment with its place. */
export function CommentCard({
  comment,
  label,
  author,
  isOutdated,
  action,
  children,
}: {
  comment: CommentPlace & { body: string };
  /** Accessible name. */
  label: string;
  author?: string;
  /** Whether the diff no longer contains its line. */
  isOutdated?: boolean | undefined;
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <article
      aria-label={label}
      className="flex items-start gap-2 border-y border-line bg-raised px-3 py-2 font-sans text-base whitespace-normal text-ink"
    >
      <div className="min-w-0 flex-1 space-y-1">
        <p className="text-xs text-ink-3" dir="auto">
          {author !== undefined && `${author} · `}
          {placeOf(comment)}
          {isOutdated && " · this line has changed since"}
        </p>
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {comment.body}
        </p>
        {children}
      </div>
      {action}
    </article>
  );
}

/** A comment that is not sent yet. */
export function DraftCard({
  comment,
  isOutdated,
  onRemove,
}: {
  comment: CommentDraft;
  isOutdated?: boolean;
  onRemove: () => void;
}) {
  const place = placeOf(comment);
  return (
    <CommentCard
      comment={comment}
      label={`Comment on ${place}`}
      isOutdated={isOutdated}
      action={
        <Button
          variant="quiet"
          size="icon"
          title="Delete"
          aria-label={`Delete the comment on ${place}`}
          onClick={onRemove}
        >
          <Trash2 aria-hidden />
        </Button>
      }
    />
  );
}
