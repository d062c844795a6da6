import { Pencil, Trash2 } from "lucide-react";
import { type ReactNode, Suspense } from "react";

import type { CommentDraft, CommentPlace } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";

import { placeOf } from "../model/comments";
import { type NoteFocus, useNoteFocus, useNoteLink } from "../model/note-links";
import type { Review } from "../model/use-review";
import { CommentForm } from "./comment-form";

/** A comment with its place. */
export function CommentCard({
  comment,
  label,
  author,
  isOutdated,
  focus,
  action,
  children,
}: {
  comment: CommentPlace & { id: string; body: string };
  /** Accessible name. */
  label: string;
  author?: string;
  /** Whether the diff no longer contains its line. */
  isOutdated?: boolean | undefined;
  focus: NoteFocus;
  action?: ReactNode;
  children?: ReactNode;
}) {
  const card = useNoteFocus(comment.id, focus);
  const link = useNoteLink();
  return (
    <article
      ref={card}
      tabIndex={-1}
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
      <CopyButton
        text={() => link({ repo: comment.repository, comment: comment.id })}
        label="Copy link"
      />
      {action}
    </article>
  );
}

interface DraftCardProps {
  comment: CommentDraft;
  /** Key of the drafts of the page. */
  page: string;
  isOutdated?: boolean;
  focus: NoteFocus;
  review: Pick<Review, "isEdited" | "setEdited">;
  onStore: (comment: CommentDraft) => Promise<unknown>;
  onRemove: () => void;
}

/** A comment that is not sent yet, or the form for its text. */
export function DraftCard(props: DraftCardProps) {
  const { comment, isOutdated, focus, review, onRemove } = props;
  const place = placeOf(comment);
  if (review.isEdited(comment.id))
    return (
      // Other comments and the diff stay visible until the draft is loaded.
      <Suspense fallback={<div className="skeleton h-24" aria-hidden />}>
        <EditForm {...props} />
      </Suspense>
    );
  return (
    <CommentCard
      comment={comment}
      label={`Comment on ${place}`}
      isOutdated={isOutdated}
      focus={focus}
      action={
        <>
          <Button
            variant="quiet"
            size="icon"
            title="Edit"
            aria-label={`Edit the comment on ${place}`}
            onClick={() => review.setEdited(comment.id, true)}
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

function EditForm({ comment, page, focus, review, onStore }: DraftCardProps) {
  const { value, change, discard } = useDraft(page, `edit ${comment.id}`, comment.body);
  const close = () => {
    discard();
    review.setEdited(comment.id, false);
    focus.setFocused(comment.id);
  };
  return (
    <CommentForm
      name={comment.id}
      label={`Edit the comment on ${placeOf(comment)}`}
      body={value}
      onBody={(body) => change(() => body)}
      submit="Save"
      onSubmit={(body) => onStore({ ...comment, body }).then(close)}
      onCancel={close}
    />
  );
}
