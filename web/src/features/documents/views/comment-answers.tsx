/** The comments that a version of a plan answers. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";

import { answersToComments, sentComments } from "../model/change-request";
import { loopRecordQuery } from "../queries";

export function CommentAnswers({
  loopId,
  content,
}: {
  /** Loop that created the version. */
  loopId: string;
  content: string;
}) {
  const { data: loop } = useQuery(loopRecordQuery(useScope(), loopId));
  if (loop?.command !== "REQUEST_CHANGES") return null;
  const comments = sentComments(loop.prompt ?? "");
  if (comments.length === 0) return null;
  const answers = answersToComments(content);
  return (
    <section aria-labelledby="comment-answers">
      <h2 id="comment-answers" className="text-xs font-medium text-ink-3">
        Comments on the version before
      </h2>
      <ol className="mt-2 space-y-3">
        {comments.map(({ number, quote, text }) => (
          <li key={number} className="rounded-md border border-line bg-surface p-3 text-sm">
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
            <p dir="auto" className="mt-2 wrap-anywhere whitespace-pre-line">
              <span className="font-medium">Answer: </span>
              {answers.get(number) ?? <span className="text-warn">none in this version</span>}
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
