import { describe, expect, it } from "vitest";

import { MAX_ITEMS, modelsOf, SpendStore, type Turn } from "./spend";

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

describe("turns of a loop", () => {
  it("are unique after replays and bounded in number", () => {
    const store = new SpendStore();
    store.apply({ turns: [turn(1), turn(2)] });
    store.apply({ turns: [turn(2), turn(3)] });
    store.apply({});
    expect(store.snapshot().turns.map((item) => item.turn)).toEqual([1, 2, 3]);
    store.apply({ turns: Array.from({ length: MAX_ITEMS * 2 }, (_, index) => turn(index + 4)) });
    expect(store.snapshot().turns).toHaveLength(MAX_ITEMS);
  });
});
