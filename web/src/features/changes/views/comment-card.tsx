import { Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";

import type { CommentDraft, CommentPlace } from "@/api/types";
import { Button } from "@/ui/button";

import { placeOf } from "../model/comments";
import type { Review } from "../model/use-review";
import { CommentForm } from "./comment-form";

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

/** A comment that is not sent yet, or the form for its text. */
export function DraftCard({
  comment,
  isOutdated,
  review: { editOf, setEdit },
  onStore,
  onRemove,
}: {
  comment: CommentDraft;
  isOutdated?: boolean;
  review: Pick<Review, "editOf" | "setEdit">;
  onStore: (comment: CommentDraft) => Promise<unknown>;
  onRemove: () => void;
}) {
  const place = placeOf(comment);
  const edit = editOf(comment.id);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  const isEdited = edit !== undefined;
  useEffect(() => {
    // The form had the focus.
    if (wasEdited.current && !isEdited) editButton.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  const close = () => setEdit(comment.id, undefined);
  if (edit !== undefined)
    return (
      <CommentForm
        label={`Edit the comment on ${place}`}
        body={edit}
        onBody={(body) => setEdit(comment.id, body)}
        submit="Save"
        onSubmit={(body) => onStore({ ...comment, body }).then(close)}
        onCancel={close}
      />
    );
  return (
    <CommentCard
      comment={comment}
      label={`Comment on ${place}`}
      isOutdated={isOutdated}
      action={
        <>
          <Button
            ref={editButton}
            variant="quiet"
            size="icon"
            title="Edit"
            aria-label={`Edit the comment on ${place}`}
            onClick={() => setEdit(comment.id, comment.body)}
          >
            <Pencil aria-hidden />
          </Button>
          <Button
            variant="quiet"
            size="icon"
            title="Delete"
            aria-label={`Delete the comment on ${place}`}
            onClick={onRemove}
          >
            <Trash2 aria-hidden />
          </Button>
        </>
      }
    />
  );
}
