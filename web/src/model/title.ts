import type { Loop } from "@/api/types";

/** Returns the title of a request: its first line, at most 120 characters. */
export function titleOf(prompt: string): string {
  const line =
    prompt
      .trim()
      .split("\n", 1)[0]
      ?.replace(/^#+\s*/, "")
      .trim() ?? "";
  return line.length > 120 ? `${line.slice(0, 117).trimEnd()}…` : line;
}

/** Returns the title of a loop: that of its document, else of its prompt, else its command. */
export function loopTitle(loop: Loop): string {
  if (loop.document?.title) return loop.document.title;
  if (loop.promptExcerpt) return titleOf(loop.promptExcerpt);
  return loop.repo
    ? `${loop.command.toLowerCase()} ${loop.repo.fullName}`
    : loop.command.toLowerCase();
}
