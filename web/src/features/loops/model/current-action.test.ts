import { expect, test } from "vitest";

import { currentAction } from "./current-action";
import { log } from "./test-events";

const start = (callId: string, category: "command" | "agent" | "file", summary: string) =>
  ({ type: "tool_call", status: "start", tool: "Tool", callId, category, summary }) as const;
const end = (callId: string) =>
  ({ type: "tool_call", status: "end", tool: "Tool", callId }) as const;
const said = { type: "output", role: "assistant", chunk: "x" } as const;

test("latest tool call that has not ended is the current action", () => {
  const events = log(said, start("1", "command", "npm test"), start("2", "file", "a"), end("2"));
  expect(currentAction(events)).toEqual({
    label: "Runs",
    detail: "npm test",
    since: "2030-01-01T00:00:02Z",
  });
});

test("model responds after a text, or after a tool call has ended", () => {
  expect(currentAction(log(start("1", "file", "a"), end("1")))?.label).toBe("Waits for the model");
  expect(currentAction(log(said))?.label).toBe("Waits for the model");
});

test("loop that does not run has no action", () => {
  expect(currentAction([])).toBeUndefined();
  const queued = log({ type: "queue", queue: { place: 1, waiting: 1 } });
  expect(currentAction(queued)).toBeUndefined();
  const failed = log(start("1", "command", "npm test"), { type: "error", code: "X", message: "m" });
  expect(currentAction(failed)).toBeUndefined();
  expect(currentAction(log({ type: "started" }))?.label).toBe("Starts");
});
