import { expect, test } from "vitest";

import { moneyOf } from "./cost";

const priced = (estimatedCost: number | null, reportedCost: number | null = null) => ({
  estimatedCost,
  reportedCost,
  apiKeySource: null,
});

test("cost of a loop is the reported cost, else an estimate, else undefined", () => {
  expect(moneyOf(priced(0.2, 0.5))?.usd).toBe(0.5);
  expect(moneyOf(priced(0.2))?.usd).toBe(0.2);
  expect(moneyOf(priced(0.2))?.source).toMatch(/Estimated/);
  expect(moneyOf(priced(null))).toBeUndefined();
  expect(moneyOf({ ...priced(0, 1), apiKeySource: "none" })?.source).toMatch(/subscription/);
});
