/** Text of a request for changes of a plan: numbered comments with the passages that they concern, and answers. */
import { answerText, type OpenQuestion, type QuestionAnswer } from "./open-questions";
import type { PassageAnchor } from "./text-anchor";

export interface PlanComment {
  id: string;
  /** Absent for a comment on the whole plan. */
  anchor?: PassageAnchor;
  text: string;
}

/** Unsent comments and answers. */
export interface Review {
  comments: PlanComment[];
  /** By the id of the question. */
  answers: Record<string, QuestionAnswer>;
}

/** A comment as a loop received it. */
export interface SentComment {
  number: number;
  quote: string;
  text: string;
}

/** Limit of the API. */
export const MAX_REQUEST_CHARS = 100_000;
// Enough to find a passage in the plan, which the assistant has.
const MAX_QUOTE_CHARS = 400;
/** Heading of the section of a plan that answers comments. The prompt of REQUEST_CHANGES names it as well. */
const ANSWERS_HEADING = "## Answers to comments";

/** Returns what a review contains in addition to what was sent of it: what the person has written since. */
export function withoutSent({ comments, answers }: Review, sent: Review): Review {
  const isSent = (comment: PlanComment) =>
    sent.comments.some(({ id, text }) => id === comment.id && text === comment.text);
  return {
    comments: comments.filter((comment) => !isSent(comment)),
    answers: Object.fromEntries(
      Object.entries(answers).filter(
        ([id, answer]) => JSON.stringify(answer) !== JSON.stringify(sent.answers[id]),
      ),
    ),
  };
}

/** Returns the comments that have a text. */
export const writtenComments = ({ comments }: Review): PlanComment[] =>
  comments.filter(({ text }) => text.trim() !== "");

/** Returns the text of the comments and of the answers to `questions`. Empty if there are none. */
export function changeRequestText(
  review: Review,
  questions: OpenQuestion[],
  version: number,
): string {
  const comments = writtenComments(review);
  const parts = comments.map((comment, at) => commentText(comment, at + 1));
  if (comments.length > 0) {
    parts.unshift(
      `Comments on version ${version} of the plan. Answer each one by its number in the section "${ANSWERS_HEADING.slice(3)}".`,
    );
  }
  return [...parts, answersText(review, questions)].filter(Boolean).join("\n\n");
}

/** Returns the text of the answers to `questions`. Empty if there are none. */
export function answersText({ answers }: Review, questions: OpenQuestion[]): string {
  return questions
    .flatMap((question) => {
      const answer = answerText(question, answers[question.id]);
      return answer === undefined
        ? []
        : [`### Answer to ${question.id}: ${question.text}\n\n${escapeLines(answer)}`];
    })
    .join("\n\n");
}

function commentText({ anchor, text }: PlanComment, number: number): string {
  const lines = [`### Comment ${number}`];
  if (anchor) {
    if (anchor.headings.length > 0) lines.push(`In "${anchor.headings.join(" > ")}":`);
    lines.push(`> ${excerpt(anchor.quote)}`);
  }
  return [...lines, escapeLines(text.trim())].join("\n\n");
}

export function excerpt(quote: string): string {
  return quote.length <= MAX_QUOTE_CHARS ? quote : `${quote.slice(0, MAX_QUOTE_CHARS)}…`;
}

// A line of a comment is not mistaken for a heading or a quoted passage.
const escapeLines = (text: string) => text.replace(/^(?=\\*[#>])/gm, "\\");
const unescapeLines = (text: string) => text.replace(/^\\(?=\\*[#>])/gm, "");

/** Returns the comments in a text of `changeRequestText`. */
export function sentComments(request: string): SentComment[] {
  return request.split(/^### /m).flatMap((section) => {
    const number = /^Comment (\d+)\n/.exec(section)?.[1];
    if (number === undefined) return [];
    const body = section.slice(section.indexOf("\n")).trim();
    const [, quote = "", text = ""] =
      /^(?:In ".*":\n\n)?(?:> (.*)(?:\n\n|$))?([^]*)$/.exec(body) ?? [];
    return [{ number: Number(number), quote, text: unescapeLines(text) }];
  });
}

/** Returns the answers to comments in a plan, by the number of the comment. */
export function answersToComments(content: string): Map<number, string> {
  const answers = new Map<number, string>();
  const [, rest] = `\n${content}`.split(`\n${ANSWERS_HEADING}`);
  const [section = ""] = (rest ?? "").split(/^## /m);
  for (const item of section.split(/^(?=\d+\. )/m)) {
    const [, number, answer = ""] = /^(\d+)\. ([^]*)$/.exec(item) ?? [];
    if (number !== undefined) answers.set(Number(number), answer.trim());
  }
  return answers;
}
