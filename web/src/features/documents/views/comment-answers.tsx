/** The comments that a version of a plan answers. */
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";

import { answersToComments, type SentComment } from "../model/change-request";
import {
  sentCommentId,
  useCommentLink,
  useLinkedComment,
  useLinkFocus,
} from "../model/comment-links";

export function CommentAnswers({
  comments,
  content,
  version,
}: {
  comments: SentComment[];
  content: string;
  version: number;
}) {
  const link = useCommentLink(version);
  const linked = useLinkedComment();
  if (comments.length === 0) return null;
  const answers = answersToComments(content);
  return (
    <section aria-labelledby="comment-answers">
      <h2 id="comment-answers" className="text-xs font-medium text-ink-3">
        Comments on the version before
      </h2>
      <ol className="mt-2 space-y-3">
        {comments.map((comment) => {
          const id = sentCommentId(comment.number);
          return (
            <AnsweredComment
              key={id}
              comment={comment}
              answer={answers.get(comment.number)}
              isLinked={id === linked}
              link={() => link(id)}
            />
          );
        })}
      </ol>
    </section>
  );
}

function AnsweredComment({
  comment: { quote, text },
  answer,
  isLinked,
  link,
}: {
  comment: SentComment;
  answer: string | undefined;
  isLinked: boolean;
  link: () => string;
}) {
  return (
    <li
      ref={useLinkFocus<HTMLLIElement>(isLinked)}
      tabIndex={-1}
      className={cx(
        "scroll-my-24 rounded-md border bg-surface p-3 text-sm",
        isLinked ? "border-accent" : "border-line",
      )}
    >
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          {quote && (
            <blockquote
              dir="auto"
              className="line-clamp-3 border-s-2 border-line ps-2 wrap-anywhere text-ink-2"
            >
              {quote}
            </blockquote>
          )}
          <p dir="auto" className="mt-1 wrap-anywhere whitespace-pre-line">
            {text}
          </p>
        </div>
        <CopyButton text={link} label="Copy link" />
      </div>
      <p dir="auto" className="mt-2 wrap-anywhere whitespace-pre-line">
        <span className="font-medium">Answer: </span>
        {answer ?? <span className="text-warn">none in this version</span>}
      </p>
    </li>
  );
}
