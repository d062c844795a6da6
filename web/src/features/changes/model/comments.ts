/**
 * Comments on lines of a diff.
 *
 * A comment names its line by its text and the lines around it, because the line moves while the loop works.
 */
import type { SideLines } from "./patch-lines";

export type Side = "old" | "new";

export interface ReviewComment {
  id: string;
  repository: string;
  path: string;
  side: Side;
  /** Numbers of the first and last line when the comment was written, and of the text below. */
  from: number;
  to: number;
  /** Text of the last line; `undefined` for a comment on the file. */
  text?: string;
  /** Texts of the lines before and after it. */
  before: string[];
  after: string[];
  body: string;
}

/** Lines before and after the line of a comment. */
const NEIGHBOURS = 2;

export type LineRange = Pick<ReviewComment, "side" | "from" | "to">;

/** Returns the part of a comment that identifies its line. */
export function anchorOf(lines: SideLines, { side, from, to }: LineRange) {
  const around = (...offsets: number[]) =>
    offsets.flatMap((offset) => lines[side].get(to + offset) ?? []);
  const text = lines[side].get(to);
  return {
    side,
    from,
    to,
    ...(text !== undefined && { text }),
    before: around(...Array.from({ length: NEIGHBOURS }, (_, index) => index - NEIGHBOURS)),
    after: around(...Array.from({ length: NEIGHBOURS }, (_, index) => index + 1)),
  };
}

/**
 * Returns the current number of the last line of a comment: of the line with the same text and the most equal
 * neighbours, of several the nearest. `undefined` if the diff has no such line.
 */
export function currentLine(comment: ReviewComment, lines: SideLines): number | undefined {
  let best: { line: number; rank: number; distance: number } | undefined;
  for (const [line, text] of lines[comment.side]) {
    if (text !== comment.text) continue;
    const { before, after } = anchorOf(lines, { ...comment, to: line });
    const rank = equalTexts(before, comment.before) + equalTexts(after, comment.after);
    const distance = Math.abs(line - comment.to);
    if (!best || rank > best.rank || (rank === best.rank && distance < best.distance))
      best = { line, rank, distance };
  }
  return best?.line;
}

const equalTexts = (some: string[], others: string[]) =>
  some.filter((text, index) => text === others[index]).length;

/** Returns the place of a comment in words, for example `src/a.ts, lines 3 to 5`. */
export function placeOf({ path, side, from, to, text }: ReviewComment): string {
  if (text === undefined) return path;
  const lines = from === to ? `line ${to}` : `lines ${from} to ${to}`;
  return `${path}, ${lines}${side === "old" ? " before the change" : ""}`;
}

/**
 * Returns the comments as the request of a loop: each with its place, and with the text of its line, by which the
 * assistant finds it after other comments have moved it. Quoted, so that no text can end its block.
 */
export function reviewText(comments: readonly ReviewComment[], summary: string): string {
  const quoted = (text: string) => text.replace(/^/gm, "> ");
  const parts = comments.map((comment, index) => {
    const repository = `Repository: ${comment.repository}`;
    const line = comment.text === undefined ? [] : [`Line: \`${comment.text.trim()}\``];
    const head = [`## Comment ${index + 1}: ${placeOf(comment)}`, "", repository, ...line, ""];
    return [...head, quoted(comment.body)].join("\n");
  });
  const introduction = summary.trim() === "" ? [] : [quoted(summary.trim())];
  return ["# Review comments", ...introduction, ...parts].join("\n\n");
}
