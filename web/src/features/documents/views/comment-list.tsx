/** Unsent comments on a plan. */
import { Trash2 } from "lucide-react";
import { type RefObject, useRef } from "react";

import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { INPUT_CLASS } from "@/ui/field";

import { excerpt, type PlanComment } from "../model/change-request";
import { highlight } from "../model/highlights";
import { type PassageAnchor, rangesOf } from "../model/text-anchor";
import type { ReviewDraft } from "../model/use-review";

export function CommentList({
  review,
  added,
  missing,
  article,
  onAddGeneral,
}: {
  review: ReviewDraft;
  /** Id of the comment that was just added. */
  added: string | undefined;
  /** Ids of comments on passages that are not displayed. */
  missing: string[];
  article: RefObject<HTMLElement | null>;
  onAddGeneral: () => void;
}) {
  const { comments } = review.review;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section aria-labelledby="plan-comments">
      <h2
        id="plan-comments"
        ref={heading}
        tabIndex={-1}
        className="text-xs font-medium text-ink-3 outline-none"
      >
        Comments
      </h2>
      {comments.length === 0 && (
        <p className="mt-2 text-sm text-ink-2">
          Select a passage of the plan to comment on it. Comments are sent together, with Request
          changes.
        </p>
      )}
      <ol className="mt-2 space-y-3 empty:hidden">
        {comments.map((comment, at) => (
          <CommentItem
            key={comment.id}
            comment={comment}
            number={at + 1}
            isNew={comment.id === added}
            isMissing={missing.includes(comment.id)}
            article={article}
            onChange={(text) => review.changeComment(comment.id, text)}
            onDelete={() => {
              review.removeComment(comment.id);
              heading.current?.focus();
            }}
          />
        ))}
      </ol>
      <Button size="sm" className="mt-3" onClick={onAddGeneral}>
        Comment on the whole plan
      </Button>
    </section>
  );
}

function CommentItem({
  comment: { anchor, text },
  number,
  isNew,
  isMissing,
  article,
  onChange,
  onDelete,
}: {
  comment: PlanComment;
  number: number;
  isNew: boolean;
  isMissing: boolean;
  article: RefObject<HTMLElement | null>;
  onChange: (text: string) => void;
  onDelete: () => void;
}) {
  return (
    <li className="rounded-md border border-line bg-surface p-3">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1 text-sm">
          {anchor ? (
            <button
              type="button"
              dir="auto"
              title="Show the passage"
              disabled={isMissing}
              onClick={() => showPassage(article.current, anchor)}
              className="line-clamp-3 border-s-2 border-warn ps-2 text-start wrap-anywhere text-ink-2 enabled:hover:text-ink"
            >
              {excerpt(anchor.quote)}
            </button>
          ) : (
            <span className="text-ink-2">The whole plan</span>
          )}
        </div>
        <Button
          variant="quiet"
          size="icon"
          aria-label={`Delete comment ${number}`}
          title="Delete"
          onClick={onDelete}
        >
          <Trash2 aria-hidden />
        </Button>
      </div>
      {isMissing && (
        <p className="mt-1 text-sm text-warn">
          This version does not contain the passage. The comment is sent with it.
        </p>
      )}
      <textarea
        aria-label={`Comment ${number}`}
        dir="auto"
        rows={3}
        value={text}
        // The user has just added the comment to write it.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus={isNew}
        onChange={(event) => onChange(event.target.value)}
        className={cx(INPUT_CLASS, "mt-2 h-auto resize-y scroll-my-24 py-1.5 leading-relaxed")}
      />
    </li>
  );
}

function showPassage(article: HTMLElement | null, anchor: PassageAnchor): void {
  const [range] = article ? rangesOf(article, [anchor]) : [];
  if (!range) return;
  range.startContainer.parentElement?.scrollIntoView({ block: "center" });
  highlight("plan-passage", [range]);
}
