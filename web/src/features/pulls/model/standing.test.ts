import { expect, test } from "vitest";

import type { PullRequestCheck, PullRequestStanding } from "@/api/types";

import { byUrgency, checksSummary, pollInterval, stateWords } from "./standing";

const check = (outcome: PullRequestCheck["outcome"]): PullRequestCheck => ({
  name: outcome,
  status: "COMPLETED",
  conclusion: null,
  outcome,
  url: null,
});

test("checks are summarised by their worst outcome", () => {
  expect(checksSummary([])).toBeUndefined();
  expect(checksSummary([check("passed"), check("failed"), check("pending")])?.label).toBe(
    "1 of 3 checks failed",
  );
  expect(checksSummary([check("passed"), check("pending")])?.label).toBe("1 of 2 checks running");
  expect(checksSummary([check("passed"), check("passed")])).toEqual({
    label: "2 checks passed",
    tone: "ok",
  });
  expect(checksSummary([check("skipped")])?.label).toBe("1 check skipped");
  const order = byUrgency([check("skipped"), check("passed"), check("failed"), check("pending")]);
  expect(order.map(({ outcome }) => outcome)).toEqual(["failed", "pending", "passed", "skipped"]);
});

test("draft is a state of open pull requests only", () => {
  expect(stateWords({ state: "open", isDraft: true }).label).toBe("Draft");
  expect(stateWords({ state: "merged", isDraft: true }).label).toBe("Merged");
  expect(stateWords({ state: "closed", isDraft: false }).label).toBe("Closed");
});

test("pull request is read more often while something is determined, and no longer when it is closed", () => {
  const standing = (members: Partial<PullRequestStanding>) =>
    ({ state: "open", checks: [], mergeObstacle: null, ...members }) as PullRequestStanding;
  expect(pollInterval(standing({ state: "merged" }))).toBe(false);
  expect(pollInterval(standing({ mergeObstacle: "unknown" }))).toBe(3_000);
  expect(pollInterval(standing({ checks: [check("pending")] }))).toBe(15_000);
  expect(pollInterval(standing({ checks: [check("failed")] }))).toBe(60_000);
});
