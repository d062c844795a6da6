import { Check, CircleSlash, Clock, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import type { CommentAnswer } from "@/api/types";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";

import { answerText, placeOf, type SentComment } from "../model/comments";
import type { NoteFocus } from "../model/note-links";
import { CommentCard } from "./comment-card";

/** A comment of a finished review, with the answer of the loop. */
export function SentCard({
  comment,
  isOutdated,
  focus,
  onCommit,
  onRepeat,
}: {
  comment: SentComment;
  isOutdated?: boolean;
  focus: NoteFocus;
  /** Displays the changes of a commit. Undefined where they are not displayed. */
  onCommit?: ((commit: string) => void) | undefined;
  /** Writes the comment again. */
  onRepeat: () => void;
}) {
  return (
    <CommentCard
      comment={comment}
      label={`Comment ${comment.number} on ${placeOf(comment)}`}
      author={comment.author}
      isOutdated={isOutdated}
      focus={focus}
    >
      {comment.isRequest && <Answer comment={comment} onCommit={onCommit} onRepeat={onRepeat} />}
    </CommentCard>
  );
}

function Answer({
  comment: { answer, isAwaited },
  onCommit,
  onRepeat,
}: Pick<Parameters<typeof SentCard>[0], "comment" | "onCommit" | "onRepeat">) {
  if (!answer)
    return isAwaited ? (
      <Line icon={<Clock aria-hidden />} tone="text-ink-2">
        The loop has not answered yet.
      </Line>
    ) : (
      <Line icon={<TriangleAlert aria-hidden />} tone="text-warn">
        The loop ended without an answer.{" "}
        <Button size="sm" variant="quiet" onClick={onRepeat}>
          Comment again
        </Button>
      </Line>
    );
  return answer.status === "done" ? (
    <Line icon={<Check aria-hidden />} tone="text-ok">
      Done
      {answer.commit && <Commit answer={answer} onCommit={onCommit} />}: <Text answer={answer} />
    </Line>
  ) : (
    <Line icon={<CircleSlash aria-hidden />} tone="text-warn">
      Declined: <Text answer={answer} />
    </Line>
  );
}

function Commit({
  answer,
  onCommit,
}: {
  answer: Extract<CommentAnswer, { status: "done" }>;
  onCommit: ((commit: string) => void) | undefined;
}) {
  const commit = answer.commit ?? "";
  const short = <span className="font-mono text-xs">{commit.slice(0, 7)}</span>;
  return (
    <>
      {" in "}
      {onCommit ? (
        <button
          type="button"
          className="text-accent hover:underline"
          onClick={() => onCommit(commit)}
        >
          {short}
        </button>
      ) : (
        short
      )}
    </>
  );
}

const Text = ({ answer }: { answer: CommentAnswer }) => (
  <span dir="auto" className="wrap-anywhere text-ink">
    {answerText(answer)}
  </span>
);

function Line({ icon, tone, children }: { icon: ReactNode; tone: string; children: ReactNode }) {
  return (
    <div className={cx("flex items-start gap-1.5 text-sm [&_svg]:mt-0.5 [&_svg]:size-4", tone)}>
      <span className="shrink-0">{icon}</span>
      <p className="min-w-0">{children}</p>
    </div>
  );
}
