import { expect, test } from "vitest";

import { scoresOf } from "./judges";

const metric = (name: string, score: number) => ({
  metric_name: name,
  score,
  threshold: 0.8,
  justification: `because of ${name}`,
});

test("scores are compared with those of the version before", () => {
  const report = {
    stats: [
      { case_id: "kiss-judge", final_status: 1, metrics: [metric("kiss_score", 0.9)] },
      { case_id: "test-judge", final_status: 2, metrics: [metric("a", 0.5), metric("b", 1)] },
    ],
  };
  const previous = {
    stats: [
      { case_id: "kiss-judge", final_status: 1, metrics: [metric("kiss_score", 0.7)] },
      { case_id: "test-judge", final_status: 3, metrics: [metric("a", 0)] },
    ],
  };
  const scores = scoresOf(report, previous);
  expect(
    scores.map(({ judge, metric, score, previous }) => [judge, metric, score, previous]),
  ).toEqual([
    ["kiss", undefined, 0.9, 0.7],
    ["test", "a", 0.5, undefined],
    ["test", "b", 1, undefined],
  ]);
  expect(scores[0]).toMatchObject({ threshold: 0.8, reason: "because of kiss_score" });
});

test("judge without a judgement is marked, and malformed reports have no scores", () => {
  const stats = [{ case_id: "dry-judge", final_status: 3, metrics: [metric("dry_score", 0)] }];
  expect(scoresOf({ stats }, undefined)[0]?.isFailed).toBe(true);
  for (const report of [
    undefined,
    null,
    5,
    {},
    { stats: [{}, null] },
    { stats: [{ case_id: "x", metrics: [{}, null] }] },
  ])
    expect(scoresOf(report, undefined)).toEqual([]);
});
