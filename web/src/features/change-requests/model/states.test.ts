import { expect, test } from "vitest";

import type { Attention, ChangeState } from "@/api/types";

import { isActiveState, needOf, stateLabel, tasksText } from "./states";
import { tabOf } from "./tabs";

test("label contains the details of the state", () => {
  const queue = { kind: "queue", place: 2, waiting: 4 } as const;
  expect(stateLabel({ state: "queued", details: { activity: queue } })).toBe("Queued (2 of 4)");
  expect(stateLabel({ state: "plan_ready", details: { questions: 1 } })).toBe(
    "Plan ready · 1 question",
  );
  expect(stateLabel({ state: "checks_failing", details: { failingChecks: 2 } })).toBe(
    "2 checks failing",
  );
  expect(stateLabel({ state: "findings_open", details: { findings: 1 } })).toBe(
    "1 finding to decide",
  );
  expect(stateLabel({ state: "failed", details: { code: "PROCESS_FAILED" } })).toBe("Failed");
});

test("state and need of a newer server are displayed by their names", () => {
  const state = "being_tested" as ChangeState;
  expect(stateLabel({ state, details: {} })).toBe("Being tested");
  expect(isActiveState(state)).toBe(false);
  expect(needOf("license_missing" as Attention).text).toBe("License missing.");
  expect(tabOf({ state, stage: "execute" })).toBe("live");
});

test("progress counts the tasks", () => {
  expect(tasksText({ completed: 3, total: 7 })).toBe("3 of 7 tasks");
  expect(tasksText({ completed: 0, total: 1 })).toBe("0 of 1 task");
});

test("usage limit names the time of its reset, if it is known", () => {
  const until = new Date(2026, 4, 11, 15, 0).toISOString();
  const waits = (until?: string) =>
    stateLabel({
      state: "waiting_for_limit",
      details: { activity: { kind: "usage_limit", ...(until && { until }) } },
    });
  expect(waits(until)).toBe("Waiting for usage limit until 15:00");
  expect(waits()).toBe("Waiting for usage limit");
  expect(waits("soon")).toBe("Waiting for usage limit");
});
