import { expect, test } from "vitest";

import { mainAction } from "./main-action";

type Standing = Parameters<typeof mainAction>[0];
const standing = (facts: Partial<Standing>): Standing => ({
  state: "running",
  stage: "execute",
  attention: null,
  ...facts,
});

test("decision of the person leads to its stage, and to its control there", () => {
  const question = standing({ state: "question", attention: "question" });
  expect(mainAction(question, "plan")).toEqual({ kind: "open", tab: "live", label: "Answer" });
  expect(mainAction(question, "live")).toEqual({ kind: "focus", label: "Answer" });
});

test("plan is read first, and its stage shows Execute at all times", () => {
  const plan = standing({ state: "plan_ready", stage: "plan", attention: "plan" });
  expect(mainAction(plan, "history")).toEqual({
    kind: "open",
    tab: "plan",
    label: "Read the plan",
  });
  expect(mainAction(plan, "plan")).toBeUndefined();
});

test.each(["live", "plan", "history"] as const)(
  "running loop is stopped on the stage %s",
  (tab) => {
    expect(mainAction(standing({}), tab)).toEqual({ kind: "stop" });
  },
);

test("loop that waits for approval is approved, not stopped", () => {
  const held = standing({ state: "waiting_for_approval", attention: "approval" });
  expect(mainAction(held, "request")).toMatchObject({ kind: "open", label: "Approve" });
});

test("open pull request is opened, unless its stage is", () => {
  const opened = standing({ state: "pull_request_open", stage: "pull_request" });
  expect(mainAction(opened, "changes")).toMatchObject({ kind: "open", tab: "pull-request" });
  expect(mainAction(opened, "pull-request")).toBeUndefined();
});

test.each(["merged", "closed", "stopped", "done"] as const)("nothing is due when %s", (state) => {
  expect(mainAction(standing({ state }), "history")).toBeUndefined();
});
