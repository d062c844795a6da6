import { expect, it } from "vitest";

import { LoopActivityStore } from "./activity";

it("knows the newest place until the loop starts", () => {
  const store = new LoopActivityStore();
  store.take({ type: "output", queue: { place: 2, waiting: 3 } });
  store.take({ type: "output", queue: { place: 1, waiting: 2 } });
  expect(store.snapshot().queue).toEqual({ place: 1, waiting: 2 });
  store.take({ type: "started" });
  expect(store.snapshot()).toEqual({});
});

it("knows that a loop waits for approval until it is in line or starts", () => {
  const store = new LoopActivityStore();
  const approval = { id: "a", command: "loopgate approvals approve a", waitsUntil: "2030-01-01" };
  store.take({ type: "output", approval });
  expect(store.snapshot()).toEqual({ approval });
  store.take({ type: "output", queue: { place: 1, waiting: 1 } });
  expect(store.snapshot().approval).toBeUndefined();
});

it("knows that a loop is stuck until it moves again", () => {
  const store = new LoopActivityStore();
  const stall = { state: "stuck", since: "2030-01-01T00:00:00.000Z", command: "npm init" };
  store.take({ type: "output", stall });
  store.take({ type: "output" });
  expect(store.snapshot().stall).toEqual(stall);
  store.take({ type: "output", stall: { state: "working" } });
  expect(store.snapshot().stall?.state).toBe("working");
  store.take({ type: "completed" });
  expect(store.snapshot()).toEqual({});
});
