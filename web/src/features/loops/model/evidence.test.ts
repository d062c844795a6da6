import { describe, expect, test } from "vitest";

import type { Loop, ResultEntry, TestEvidence, TestRun } from "@/api/types";

import { costByPhase, evidenceSentence, testsOf } from "./evidence";

const run = (passed?: number): TestRun => ({
  commit: "c",
  durationMs: 1,
  log: "l",
  ...(passed !== undefined && { counts: { passed, failed: 0, skipped: 0 } }),
});
const tests = (before?: number, after?: number, fields: Partial<TestEvidence> = {}) => ({
  outcome: "passed" as const,
  base: run(before),
  head: run(after),
  ...fields,
});
const FLAG = { kind: "test-skipped" as const, detail: "it.skip" };

describe("evidenceSentence", () => {
  test("names tasks, tests and weakened tests", () => {
    const tasks = { completed: 7, total: 7 };
    expect(evidenceSentence(tasks, [tests(210, 212, { flags: [FLAG] })])).toBe(
      "7 of 7 tasks done; 212 tests pass, 2 more than before; 1 test was weakened.",
    );
  });

  test.each([
    [[tests(3, 3)], "3 tests pass, as many as before."],
    [[tests(2, 1)], "1 test passes, 1 fewer than before."],
    [[tests(undefined, 5)], "5 tests pass."],
    [[tests(1, 2), tests(10, 11)], "13 tests pass, 2 more than before."],
    [[tests()], "the tests pass."],
    [[{ outcome: "not-run" as const }], "the tests were not run."],
    [
      [tests(2, 1, { outcome: "new-failures", newFailures: ["a"], flags: [FLAG, FLAG] })],
      "1 test passes, 1 fewer than before; 1 test that passed before fails; 2 tests were weakened.",
    ],
  ])("counts the tests of %j", (evidence, sentence) => {
    expect(evidenceSentence(undefined, evidence)).toBe(sentence);
  });

  test("is absent when nothing is known", () => {
    expect(evidenceSentence(null, [])).toBeUndefined();
  });
});

test("tests of work that waits for an approval count", () => {
  const entry = (status: string, tests?: TestEvidence) => ({ status, tests }) as ResultEntry;
  const tests = { outcome: "passed" } as unknown as TestEvidence;
  expect(testsOf([entry("held", tests), entry("failed"), entry("success", tests)])).toHaveLength(2);
});

test("costs are summed by phase, in the order of the work", () => {
  const loop = (command: Loop["command"], reportedCost: number | null) =>
    ({ command, reportedCost }) as Loop;
  expect(
    costByPhase([loop("EXECUTE", 2), loop("PLAN", 0.5), loop("REQUEST_CHANGES", null)]),
  ).toEqual([
    { phase: "Plan", loops: 2, usd: 0.5 },
    { phase: "Execute", loops: 1, usd: 2 },
  ]);
});
