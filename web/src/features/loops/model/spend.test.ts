import { describe, expect, it } from "vitest";

import type { Turn } from "@/api/types";

import { MAX_ITEMS, mergeSpend, modelsOf, SpendStore } from "./spend";
import { stored } from "./test-events";

const loop = (metadata: Record<string, unknown>) => ({
  metadata,
  tokensByModel: { small: { input: 5, output: 1 }, large: { input: 1, output: 1, cacheRead: 9 } },
});

const turn = (number: number): Turn => ({
  turn: number,
  model: "m",
  input: 1,
  output: 1,
  cacheCreation: 0,
  cacheRead: 0,
});

describe("cost of a loop", () => {
  it("is listed by model, the most expensive first", () => {
    const models = modelsOf(loop({ cost: { totalUsd: 1, byModel: { small: 0.1, large: 0.9 } } }));
    expect(models.map(({ model, costUsd }) => [model, costUsd])).toEqual([
      ["large", 0.9],
      ["small", 0.1],
    ]);
    expect(modelsOf(loop({}))[0]?.model).toBe("large");
  });
});

const report = (...turns: Turn[]) => stored(1, { type: "usage", turns });

describe("turns of a loop", () => {
  it("are unique after replays and bounded in number", () => {
    const store = new SpendStore();
    store.apply(report(turn(1), turn(2)));
    // Earlier runners report tokens with a text.
    store.apply(stored(2, { type: "output", chunk: "x", turns: [turn(2), turn(3)] }));
    store.apply(report());
    expect(store.snapshot().turns.map((item) => item.turn)).toEqual([1, 2, 3]);
    store.apply(report(...Array.from({ length: MAX_ITEMS * 2 }, (_, index) => turn(index + 4))));
    expect(store.snapshot().turns).toHaveLength(MAX_ITEMS);
  });

  it("of earlier events precede those of the end of the log", () => {
    const merged = mergeSpend([report(turn(1), turn(2))], { turns: [turn(2), turn(3)], runs: [] });
    expect(merged.turns.map((item) => item.turn)).toEqual([1, 2, 3]);
  });
});
