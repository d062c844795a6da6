/** `@file` in the text of a request. */

export interface Mention {
  /** Position of the `@`. */
  start: number;
  /** Position after the part that is searched for. */
  end: number;
  query: string;
}

/** Returns the mention that the caret is in: `@` at the start of a word, without blanks up to the caret. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const match = /(^|[\s([{"'`])@([^\s@]*)$/.exec(text.slice(0, caret));
  if (!match) return undefined;
  const query = match[2] ?? "";
  return { start: caret - query.length - 1, end: caret, query };
}

/** Replaces a mention by the path of a file. Returns the text, and the position of the caret. */
export function insertMention(
  text: string,
  { start, end }: Mention,
  path: string,
): { text: string; caret: number } {
  const rest = text.slice(end);
  const inserted = `@${path}${/^\s/.test(rest) ? "" : " "}`;
  return { text: text.slice(0, start) + inserted + rest, caret: start + inserted.length };
}
