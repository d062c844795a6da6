import { describe, expect, test } from "vitest";

import type { LoopDetail } from "@/api/types";

import { pullRequestHref, resultEntries, reviewOutcome, safeHref } from "./results";

const loop = (fields: Partial<LoopDetail>) =>
  ({
    command: "EXECUTE",
    status: "COMPLETED",
    repo: { fullName: "acme/shop", branch: "main" },
    ...fields,
  }) as LoopDetail;

describe("resultEntries", () => {
  test("what the loop reported comes as it is", () => {
    const results = [{ status: "failed" as const, fullName: "acme/x", error: "e" }];
    expect(resultEntries(loop({ results }))).toBe(results);
  });

  test("a pull request of the loop itself becomes one row", () => {
    const entries = resultEntries(
      loop({ prUrl: "https://github.com/acme/shop/pull/4", prNumber: 4, branchName: "b" }),
    );
    expect(entries).toEqual([
      expect.objectContaining({
        status: "success",
        fullName: "acme/shop",
        prNumber: 4,
        branchName: "b",
        baseBranch: "main",
      }),
    ]);
  });

  test("an execution without a pull request was skipped", () => {
    expect(resultEntries(loop({}))).toEqual([
      { status: "skipped", fullName: "acme/shop", reason: "no_changes" },
    ]);
  });

  test.each<Partial<LoopDetail>>([
    { command: "PLAN" },
    { status: "RUNNING" },
    { status: "FAILED" },
    { repo: null },
  ])("nothing is made up for %j", (fields) => {
    expect(resultEntries(loop(fields))).toEqual([]);
  });
});

// CP-48
describe("reviewOutcome", () => {
  const review = (metadata: LoopDetail["metadata"], fields: Partial<LoopDetail> = {}) =>
    reviewOutcome(loop({ command: "CODE_REVIEW", metadata, ...fields }));

  test("a verdict is told with its reason", () => {
    const verdict = { verdict: "decline", reason: "Tests are missing." };
    expect(review({ verdict })).toEqual({
      title: "Verdict of the review: declined",
      reason: "Tests are missing.",
    });
  });

  test("a review without a verdict did not complete", () => {
    expect(review({ verdict: null })?.title).toBe("The review did not complete");
    expect(review({})?.title).toBe("The review did not complete");
  });

  test("loops that are no review, or have not completed, have no outcome of a review", () => {
    expect(review({ verdict: null }, { command: "PLAN" })).toBeUndefined();
    expect(review({ verdict: null }, { status: "FAILED" })).toBeUndefined();
  });
});

test.each([
  ["https://github.com/a/b/pull/1", true],
  ["http://ghe.local/a", true],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["pull/1", false],
])("%s as a link: %s", (url, linked) => {
  expect(safeHref(url)).toBe(linked ? url : undefined);
});

test("a pull request is opened at the code host that is named", () => {
  const url = "https://github.com/a/b/pull/1";
  expect(pullRequestHref(url)).toBe(url);
  expect(pullRequestHref(url, "http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080/a/b/pull/1");
  expect(pullRequestHref("https://github.com.evil/a", "http://127.0.0.1:8080")).toBe(
    "https://github.com.evil/a",
  );
  expect(pullRequestHref("javascript:alert(1)", "http://127.0.0.1:8080")).toBeUndefined();
});
