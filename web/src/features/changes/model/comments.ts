/** Comments on lines of a diff. Their lines are identified and found again by the machine, see `review-queries`. */
import type {
  ChangeReview,
  CommentAnswer,
  CommentDraft,
  CommentPlace,
  CommentSide,
  SubmittedComment,
} from "@/api/types";
import { isActive } from "@/model/status";

export type Side = CommentSide;

export interface LineRange {
  side: Side;
  /** Numbers of the first and last line. */
  from: number;
  to: number;
}

/** A comment of a finished review. */
export interface SentComment extends SubmittedComment {
  author: string;
  /** Whether a loop still works on the answer. */
  isAwaited: boolean;
  /** Whether a loop had to answer it. */
  isRequest: boolean;
}

/** Returns the place of a comment in words, for example `src/a.ts, lines 3 to 5`. */
export function placeOf({ path, lines }: Pick<CommentPlace, "path" | "lines">): string {
  if (!lines) return path;
  const { side, from, to } = lines;
  const range = from === to ? `line ${to}` : `lines ${from} to ${to}`;
  return `${path}, ${range}${side === "old" ? " before the change" : ""}`;
}

/** Returns an answer in words. */
export const answerText = (answer: CommentAnswer): string =>
  answer.status === "done" ? (answer.note ?? "The change was made.") : answer.reason;

/** Returns whether the loop of a review may still answer. */
export const isAwaited = ({ loopStatus }: ChangeReview): boolean =>
  loopStatus != null && isActive(loopStatus);

const nameOf = ({ user }: ChangeReview) =>
  [user?.firstName, user?.lastName].filter(Boolean).join(" ") || (user?.email ?? "A person");

/** Returns the comments of a review for display. */
export const sentComments = (review: ChangeReview): SentComment[] =>
  review.comments.map((comment) => ({
    ...comment,
    author: nameOf(review),
    isAwaited: !comment.answer && isAwaited(review),
    isRequest: review.kind === "request_changes",
  }));

/** Returns the comments that the diff displays: of the newest review all, of earlier ones those without an answer. */
export function displayedComments(reviews: readonly ChangeReview[]): SentComment[] {
  return reviews.flatMap((review, index) => {
    const comments = sentComments(review);
    return index === 0 ? comments : comments.filter((sent) => sent.isRequest && !sent.answer);
  });
}

/** Returns a review in numbers, for example `3 comments · 2 done · 1 declined`. */
export function reviewCounts({ comments }: ChangeReview): string {
  const count = (status: CommentAnswer["status"]) =>
    comments.filter(({ answer }) => answer?.status === status).length;
  const parts = [
    `${comments.length} ${comments.length === 1 ? "comment" : "comments"}`,
    ...(["done", "declined"] as const).flatMap((status) =>
      count(status) > 0 ? `${count(status)} ${status}` : [],
    ),
  ];
  return parts.join(" · ");
}

/** Returns the comments as Markdown. Quoted, so that no text can end its block. */
export function reviewText(comments: readonly CommentDraft[], summary: string): string {
  const quoted = (text: string) => text.replace(/^/gm, "> ");
  const parts = comments.map((comment, index) => {
    const line = comment.lines?.anchor ? [`Line: \`${comment.lines.anchor.text}\``] : [];
    const head = [
      `## Comment ${index + 1}: ${placeOf(comment)}`,
      "",
      `Repository: ${comment.repository}`,
      ...line,
      "",
    ];
    return [...head, quoted(comment.body)].join("\n");
  });
  const introduction = summary.trim() === "" ? [] : [quoted(summary.trim())];
  return ["# Review comments", ...introduction, ...parts].join("\n\n");
}
