import { expect, test } from "vitest";

import { isFault, judgeResults, omissionsOf } from "./judges";

const finding = (quote: string, weight = "major", isSupported = true) => ({
  weight,
  place: "Tasks",
  quote,
  explanation: `about ${quote}`,
  is_supported: isSupported,
});
const metric = (name: string, score: number, findings: unknown[] = []) => ({
  metric_name: name,
  score,
  threshold: 0.8,
  justification: `because of ${name}`,
  findings,
});
const report = (status: number, ...metrics: unknown[]) => ({
  stats: [{ case_id: "test-judge", final_status: status, metrics }],
});

test("scores are compared with those of the version before", () => {
  const results = judgeResults(
    report(2, metric("a_b", 0.5), metric("c", 1)),
    report(1, metric("a_b", 0.9)),
  );
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ id: "test-judge", name: "test", status: "below" });
  expect(results[0]?.metrics.map(({ name, score, previous }) => [name, score, previous])).toEqual([
    ["a b", 0.5, 0.9],
    ["c", 1, undefined],
  ]);
});

// PR-41
test("each status of a judge has a name", () => {
  const statusOf = (status: number, score: number) =>
    judgeResults(report(status, metric("a", score)), undefined)[0]?.status;
  expect([statusOf(1, 0.8), statusOf(2, 0.79), statusOf(3, 0)]).toEqual([
    "passed",
    "below",
    "failed",
  ]);
  // The scores decide, as in the report.
  expect(statusOf(1, 0.1)).toBe("below");
});

test("findings are new, unchanged or resolved", () => {
  const before = report(2, metric("a", 0.5, [finding("one"), finding("two"), finding("x", "met")]));
  const now = report(2, metric("a", 0.6, [finding("two"), finding("three"), finding("y", "met")]));
  const [result] = judgeResults(now, before)[0]?.metrics ?? [];
  expect(result?.findings.map(({ quote, isNew }) => [quote, isNew])).toEqual([
    ["two", false],
    ["three", true],
    ["y", true],
  ]);
  expect(result?.resolved.map(({ quote }) => quote)).toEqual(["one"]);
  expect(result?.findings.map(isFault)).toEqual([true, true, false]);
  // Without a report on the version before, or after a failure, nothing is new.
  for (const earlier of [undefined, report(3, metric("a", 0))]) {
    const [first] = judgeResults(now, earlier)[0]?.metrics ?? [];
    expect(first?.findings.some(({ isNew }) => isNew)).toBe(false);
    expect(first?.resolved).toEqual([]);
  }
});

test("finding without words in a document cannot be requested", () => {
  const now = report(1, metric("a", 1, [finding("made up", "major", false)]));
  const [found] = judgeResults(now, undefined)[0]?.metrics[0]?.findings ?? [];
  expect(found).toMatchObject({ isSupported: false, quote: "made up" });
  expect(found && isFault(found)).toBe(false);
});

test("malformed reports have no results", () => {
  for (const malformed of [
    undefined,
    null,
    5,
    {},
    { stats: [{}, null], omitted: [1] },
    { stats: [{ case_id: "x", metrics: [{}, null] }], omitted: "x" },
  ]) {
    expect(judgeResults(malformed, undefined)).toEqual([]);
    expect(omissionsOf(malformed)).toEqual([]);
  }
  const metrics = [metric("a", 1, [null, 5, { quote: 7 }])];
  expect(judgeResults(report(1, ...metrics), undefined)[0]?.metrics[0]?.findings).toEqual([]);
  expect(omissionsOf({ omitted: ["The log is missing."] })).toEqual(["The log is missing."]);
});
