import { expect, test } from "vitest";

import type { HistoryEntry } from "@/api/types";

import { actorOf, historyText, messageOf } from "./history";

const at = "2031-04-02T10:11:12Z";
const user = { id: "1", firstName: "Ada", lastName: "Okafor", email: "ada@example.org" };
const document = { id: "2", slug: "plan-1", title: "Cart", type: "IMPLEMENTATION_PLAN" } as const;
const loop = { loopId: "3", command: "EXECUTE" } as const;

test.each<[HistoryEntry, string]>([
  [{ at, user, kind: "version", document, version: 1 }, "wrote the plan"],
  [{ at, user, kind: "version", document, version: 3 }, "wrote version 3 of the plan"],
  [
    { at, user, kind: "loop_started", ...loop, reason: "request" },
    "approved the plan and started Execute",
  ],
  [
    { at, user, kind: "loop_started", ...loop, reason: "review" },
    "started a loop that answers the review",
  ],
  [{ at, kind: "loop_ended", ...loop, status: "FAILED" }, "Execute: failed"],
  [
    {
      at,
      user,
      kind: "message",
      loopId: "3",
      messageId: "4",
      text: "Use tabs.",
      delivery: "not_delivered",
    },
    "sent a message to the loop (not delivered)",
  ],
  [
    { at, user, kind: "changes_reviewed", review: "approve", comments: 0, loopId: "3" },
    "approved the changes",
  ],
  [
    { at, user, kind: "changes_reviewed", review: "comment", comments: 1 },
    "commented on the changes (1 comment)",
  ],
  [
    { at, kind: "pull_request", fullName: "acme/shop", number: 7, url: "u" },
    "Pull request acme/shop#7 was opened",
  ],
  [
    {
      ...{ at, kind: "pull_request_settled", fullName: "acme/shop", number: 7, url: "u" },
      ...{ state: "merged", mergedBy: "kim" },
    },
    "Pull request acme/shop#7 was merged by kim",
  ],
])("text of %j", (entry, text) => {
  expect(historyText(entry)).toBe(text);
});

test("actor is a person, and a message is shown only if there is one", () => {
  expect(actorOf({ at, user, kind: "archived" })).toBe("Ada Okafor");
  expect(actorOf({ at, user: { ...user, firstName: null, lastName: null }, kind: "deleted" })).toBe(
    "ada@example.org",
  );
  expect(
    actorOf({ at, user, kind: "pull_request", fullName: "a/b", number: 1, url: "u" }),
  ).toBeUndefined();
  expect(messageOf({ at, kind: "approval_requested", loopId: "3", message: null })).toBeUndefined();
  expect(messageOf({ at, kind: "question", loopId: "3", message: "Which?" })).toBe("Which?");
});
