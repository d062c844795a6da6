import { expect, test } from "vitest";

import type { LoopDetail } from "@/api/types";

import { blockingQuestions, openTasks } from "./open-parts";

test("open tasks are those of the uploaded plan; malformed ones are skipped", () => {
  const loop = (plan: unknown) =>
    ({ uploadedArtifacts: { plan } }) as unknown as Pick<LoopDetail, "uploadedArtifacts">;
  const pendingTasks = [{ id: "T-1.2", description: "Do it" }, null, 5, { id: 3 }, { id: "T-2.1" }];
  expect(openTasks(loop({ raw: { pendingTasks } }))).toEqual([
    { id: "T-1.2", text: "Do it" },
    { id: "T-2.1", text: "" },
  ]);
  for (const plan of [undefined, null, "x", { raw: null }, { raw: { pendingTasks: 5 } }]) {
    expect(openTasks(loop(plan))).toEqual([]);
  }
});

test("open questions are shown of a loop that they block", () => {
  const openQuestions = [{ id: "Q-001", question: "Which region?", blockingTask: "T-1.2" }];
  const loop = (subcode: string) =>
    ({
      uploadedArtifacts: { plan: { raw: { openQuestions } } },
      error: { code: "RUNNER_ERROR", message: "m", result: { subcode } },
    }) as unknown as LoopDetail;
  expect(blockingQuestions(loop("PENDING_TASKS_BLOCKED_BY_QUESTIONS"))).toEqual([
    { id: "Q-001", text: "Which region?" },
  ]);
  expect(blockingQuestions(loop("PENDING_TASKS_AT_COMPLETION"))).toEqual([]);
});
