import { describe, expect, it } from "vitest";

import { KEPT, modelsOf, moneyOf, SpendStore, type Turn } from "./spend";

const loop = (metadata: Record<string, unknown>, estimatedCost: number | null = null) => ({
  metadata,
  estimatedCost,
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

describe("money of a loop", () => {
  it("is what the assistant reports, else an estimate, else nothing", () => {
    expect(moneyOf(loop({ cost: { totalUsd: 0.5 } }, 0.2))?.usd).toBe(0.5);
    expect(moneyOf(loop({}, 0.2))?.usd).toBe(0.2);
    expect(moneyOf(loop({}, 0.2))?.source).toMatch(/Estimated/);
    expect(moneyOf(loop({}))).toBeUndefined();
    expect(moneyOf(loop({ cost: { totalUsd: 1 }, apiKeySource: "none" }, 0))?.source).toMatch(
      /subscription/,
    );
  });

  it("is told apart by model, the dearest first", () => {
    const models = modelsOf(loop({ cost: { totalUsd: 1, byModel: { small: 0.1, large: 0.9 } } }));
    expect(models.map(({ model, costUsd }) => [model, costUsd])).toEqual([
      ["large", 0.9],
      ["small", 0.1],
    ]);
    expect(modelsOf(loop({}))[0]?.model).toBe("large");
  });
});

describe("turns of a loop", () => {
  it("come once, however often an event is read, and are bounded", () => {
    const store = new SpendStore();
    store.take({ turns: [turn(1), turn(2)] });
    store.take({ turns: [turn(2), turn(3)] });
    store.take({});
    expect(store.snapshot().turns.map((item) => item.turn)).toEqual([1, 2, 3]);
    store.take({ turns: Array.from({ length: KEPT * 2 }, (_, index) => turn(index + 4)) });
    expect(store.snapshot().turns).toHaveLength(KEPT);
  });
});
