import { expect, it } from "vitest";

import { LoopActivityStore } from "./activity";
import { type EventBody, stored } from "./test-events";

function activityAfter(...bodies: EventBody[]) {
  const store = new LoopActivityStore();
  bodies.forEach((body, index) => store.apply(stored(index + 1, body)));
  return store.snapshot();
}

const queued = (place: number): EventBody => ({ type: "queue", queue: { place, waiting: 3 } });
const approval = { id: "a", command: "loopgate approvals approve a", waitsUntil: "2030-01-01" };
const held: EventBody = { type: "approval", approval };
const stuck: EventBody = { type: "stall", stall: { state: "stuck", command: "npm init" } };
const output: EventBody = { type: "output", chunk: "x" };

it("keeps the latest queue position until the loop starts", () => {
  expect(activityAfter(queued(2), queued(1)).queue?.place).toBe(1);
  expect(activityAfter(queued(1), { type: "started" })).toEqual({});
});

it("keeps a pending approval until the loop is queued or starts", () => {
  expect(activityAfter(held, output)).toEqual({ approval });
  expect(activityAfter(held, queued(1)).approval).toBeUndefined();
});

it("reports a stuck loop until it is active again", () => {
  expect(activityAfter(stuck, output).stall?.command).toBe("npm init");
  expect(activityAfter(stuck, { type: "stall", stall: { state: "working" } }).stall?.state).toBe(
    "working",
  );
  expect(activityAfter(stuck, { type: "cancelled" })).toEqual({});
});
