import { expect, test } from "vitest";

import type { Loop } from "@/api/types";

import { costsOf, durationsOf, estimateOf, untilNextEnd } from "./estimate";

test("estimate is the median and the range of at least three values", () => {
  expect(estimateOf([1, 2])).toBeUndefined();
  expect(estimateOf([5, 1, 3])).toEqual({ median: 3, least: 1, most: 5, loops: 3 });
  expect(estimateOf([4, 1, 2, 9])?.median).toBe(3);
});

test("loops without a cost or an end are left out", () => {
  const loop = (fields: Partial<Loop>) => fields as Loop;
  const loops = [
    loop({
      reportedCost: 0.5,
      startedAt: "2031-01-01T00:00:00Z",
      completedAt: "2031-01-01T00:01:00Z",
    }),
    loop({ estimatedCost: 0.25, startedAt: "2031-01-01T00:00:00Z" }),
    loop({}),
  ];
  expect(costsOf(loops)).toEqual([0.5, 0.25]);
  expect(durationsOf(loops)).toEqual([60_000]);
});

test("next end is that of the loop with the least time left", () => {
  const at = (minute: number) => new Date(Date.UTC(2031, 0, 1, 0, minute)).toISOString();
  const loop = (command: Loop["command"], from: number, to?: number) => ({
    command,
    startedAt: at(from),
    completedAt: to === undefined ? null : at(to),
  });
  const ended = [4, 6, 20].map((minutes) => loop("PLAN", 0, minutes));
  const now = Date.parse(at(62));
  const minutesLeft = (...running: ReturnType<typeof loop>[]) =>
    (untilNextEnd(running, ended, now) ?? Number.NaN) / 60_000;
  expect(minutesLeft(loop("PLAN", 60), loop("PLAN", 61))).toBe(4);
  // Longer than usual, or without earlier loops.
  expect(minutesLeft(loop("PLAN", 50))).toBeNaN();
  expect(minutesLeft(loop("EXECUTE", 60))).toBeNaN();
});
