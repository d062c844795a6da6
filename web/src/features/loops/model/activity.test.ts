import { expect, it } from "vitest";

import { LoopActivityStore } from "./activity";

it("keeps the latest queue position until the loop starts", () => {
  const store = new LoopActivityStore();
  store.apply({ type: "output", queue: { place: 2, waiting: 3 } });
  store.apply({ type: "output", queue: { place: 1, waiting: 2 } });
  expect(store.snapshot().queue).toEqual({ place: 1, waiting: 2 });
  store.apply({ type: "started" });
  expect(store.snapshot()).toEqual({});
});

it("keeps a pending approval until the loop is queued or starts", () => {
  const store = new LoopActivityStore();
  const approval = { id: "a", command: "loopgate approvals approve a", waitsUntil: "2030-01-01" };
  store.apply({ type: "output", approval });
  expect(store.snapshot()).toEqual({ approval });
  store.apply({ type: "output", queue: { place: 1, waiting: 1 } });
  expect(store.snapshot().approval).toBeUndefined();
});

it("reports a stuck loop until it is active again", () => {
  const store = new LoopActivityStore();
  const stall = { state: "stuck", since: "2030-01-01T00:00:00.000Z", command: "npm init" };
  store.apply({ type: "output", stall });
  store.apply({ type: "output" });
  expect(store.snapshot().stall).toEqual(stall);
  store.apply({ type: "output", stall: { state: "working" } });
  expect(store.snapshot().stall?.state).toBe("working");
  store.apply({ type: "completed" });
  expect(store.snapshot()).toEqual({});
});
