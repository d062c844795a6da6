import { describe, expect, test } from "vitest";

import type { LoopDetail } from "@/api/types";

import { resultEntries, reviewOutcome } from "./results";

const loop = (fields: Partial<LoopDetail>) =>
  ({
    command: "EXECUTE",
    status: "COMPLETED",
    repo: { fullName: "acme/shop", branch: "main" },
    ...fields,
  }) as LoopDetail;

describe("resultEntries", () => {
  test("reported results are returned unchanged", () => {
    const results = [{ status: "failed" as const, fullName: "acme/x", error: "e" }];
    expect(resultEntries(loop({ results }))).toBe(results);
  });

  test("pull request of the loop becomes one entry", () => {
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

  test("execution without a pull request is a skipped entry", () => {
    expect(resultEntries(loop({}))).toEqual([
      { status: "skipped", fullName: "acme/shop", reason: "no_changes" },
    ]);
  });

  test.each<Partial<LoopDetail>>([
    { command: "PLAN" },
    { status: "RUNNING" },
    { status: "FAILED" },
    { repo: null },
  ])("no entry is derived for %j", (fields) => {
    expect(resultEntries(loop(fields))).toEqual([]);
  });
});

// CP-48
describe("reviewOutcome", () => {
  const review = (metadata: LoopDetail["metadata"], fields: Partial<LoopDetail> = {}) =>
    reviewOutcome(loop({ command: "CODE_REVIEW", metadata, ...fields }));

  test("verdict is shown with its reason", () => {
    const verdict = { verdict: "decline", reason: "Tests are missing." };
    expect(review({ verdict })).toEqual({
      title: "Review verdict: declined",
      reason: "Tests are missing.",
    });
  });

  test("review without a verdict did not complete", () => {
    expect(review({ verdict: null })?.title).toBe("The review did not complete");
    expect(review({})?.title).toBe("The review did not complete");
  });

  test("only completed reviews have an outcome", () => {
    expect(review({ verdict: null }, { command: "PLAN" })).toBeUndefined();
    expect(review({ verdict: null }, { status: "FAILED" })).toBeUndefined();
  });
});
