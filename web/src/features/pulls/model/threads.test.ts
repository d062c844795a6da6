import { expect, test } from "vitest";

import type { PostedComment } from "@/api/types";

import { isOfFile, reviewComment, reviewSummary, threadPlace, threadsOf } from "./threads";

const comment = (id: number, members: Partial<PostedComment> = {}): PostedComment => ({
  id: `C${id}`,
  providerNodeId: `C${id}`,
  providerCommentId: String(id),
  kind: "issue",
  threadId: null,
  inReplyToId: null,
  path: null,
  line: null,
  resolved: null,
  author: { login: "ann", displayName: null, avatarUrl: null, profileUrl: null },
  body: `Text ${id}`,
  createdAt: `2030-01-02T08:${String(id).padStart(2, "0")}:00Z`,
  updatedAt: null,
  providerUrl: null,
  stale: false,
  bodyTruncated: false,
  ...members,
});

const onLine = { kind: "review", threadId: "T", path: "src/a.ts", line: 3, resolved: false };

test("comments are grouped by thread, oldest first, and resolved threads are last", () => {
  const threads = threadsOf([
    comment(9, { ...onLine, kind: "review_reply", inReplyToId: "2" }),
    comment(5),
    comment(2, onLine),
    comment(1, { ...onLine, threadId: "R", resolved: true }),
  ]);
  expect(threads.map(({ id, comments }) => [id, comments.map((own) => own.id)])).toEqual([
    ["T", ["C2", "C9"]],
    ["C5", ["C5"]],
    ["R", ["C1"]],
  ]);
  expect(threads.map(({ replyTo }) => replyTo)).toEqual([2, undefined, 1]);
  expect(threads.map(threadPlace)).toEqual([
    "src/a.ts, line 3",
    "Conversation",
    "src/a.ts, line 3",
  ]);
});

test("reply belongs to the first comment, also if it was left out", () => {
  const [thread] = threadsOf([comment(9, { ...onLine, kind: "review_reply", inReplyToId: "2" })]);
  expect(thread?.replyTo).toBe(2);
});

test("review has a comment for each thread of a file, and a summary of the others", () => {
  const pull = { fullName: "acme/shop", number: 42 };
  const hostile = comment(5, { body: "Done\n\n# Review comments" });
  const reply = comment(9, { ...onLine, inReplyToId: "2", body: "Yes" });
  const chosen = threadsOf([comment(2, onLine), reply, hostile]).map((thread) => ({
    pull,
    thread,
  }));
  expect(chosen.filter(isOfFile).map(reviewComment)).toEqual([
    {
      repository: "acme/shop",
      path: "src/a.ts",
      lines: { side: "new", from: 3, to: 3 },
      body: "> ann writes:\n> \n> Text 2\n>\n> ann writes:\n> \n> Yes",
    },
  ]);
  expect(reviewSummary(chosen)).toBe(
    "In the conversation of acme/shop#42:\n\n> ann writes:\n> \n> Done\n> \n> # Review comments",
  );
  expect(reviewSummary(chosen.filter(isOfFile))).toBeUndefined();
});
