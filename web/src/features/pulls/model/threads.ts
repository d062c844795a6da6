/** The conversation of a pull request, as threads that can be answered and sent to a loop. */
import type { PostedComment } from "@/api/types";
import type { PullRequestName } from "@/gateway/operations";

export interface PullThread {
  id: string;
  /** Place in the diff; absent for comments in the conversation. */
  path?: string;
  line?: number;
  isResolved: boolean;
  /** Oldest first. */
  comments: PostedComment[];
  /** Id of the comment to reply to; absent in the conversation, which has no replies. */
  replyTo?: number;
}

/** Groups comments into threads: unresolved ones first, each group in the order of their first comments. */
export function threadsOf(comments: readonly PostedComment[]): PullThread[] {
  const threads = new Map<string, PullThread>();
  const oldestFirst = comments.toSorted((one, other) =>
    one.createdAt.localeCompare(other.createdAt),
  );
  for (const comment of oldestFirst) {
    const id = comment.threadId ?? comment.id;
    const thread = threads.get(id);
    if (thread) {
      thread.comments.push(comment);
      continue;
    }
    // The first comment of a thread may have been left out of a long conversation.
    const root = comment.inReplyToId ?? comment.providerCommentId;
    threads.set(id, {
      id,
      ...(comment.path !== null && { path: comment.path }),
      ...(comment.line !== null && { line: comment.line }),
      ...(comment.threadId !== null && root !== null && { replyTo: Number(root) }),
      isResolved: comment.resolved === true,
      comments: [comment],
    });
  }
  return [...threads.values()].toSorted(
    (one, other) => Number(one.isResolved) - Number(other.isResolved),
  );
}

/** Returns the place of a thread in words, for example `src/a.ts, line 3`. */
export function threadPlace({ path, line }: PullThread): string {
  if (path === undefined) return "Conversation";
  return line === undefined ? path : `${path}, line ${line}`;
}

/** A thread that a loop is to address. */
export interface ChosenThread {
  pull: PullRequestName;
  thread: PullThread;
}

/** A thread of a file as a comment of a review, which a loop answers. */
export const reviewComment = ({ pull, thread: { path, line, comments } }: FileThread) => ({
  repository: pull.fullName,
  path,
  ...(line !== undefined && { lines: { side: "new" as const, from: line, to: line } }),
  body: quoted(comments),
});

/** A thread that is about a file. */
export type FileThread = ChosenThread & { thread: { path: string } };

export const isOfFile = (chosen: ChosenThread): chosen is FileThread =>
  chosen.thread.path !== undefined;

/** Returns the other threads as the summary of a review; undefined without any. */
export function reviewSummary(chosen: readonly ChosenThread[]): string | undefined {
  const others = chosen.filter((choice) => !isOfFile(choice));
  const parts = others.map(
    ({ pull, thread }) =>
      `In the conversation of ${pull.fullName}#${pull.number}:\n\n${quoted(thread.comments)}`,
  );
  return parts.length > 0 ? parts.join("\n\n") : undefined;
}

/** Quotes every line, so that no text of another person can end its block. */
const quoted = (comments: readonly PostedComment[]): string =>
  comments
    .map(({ author, body }) => `${author.login} writes:\n\n${body}`.replace(/^/gm, "> "))
    .join("\n>\n");
