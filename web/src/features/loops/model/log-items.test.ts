import { describe, expect, test } from "vitest";

import { type LogItem, logItems, textOf } from "./log-items";
import { log } from "./test-events";

const start = { type: "tool_call", status: "start", tool: "Bash", callId: "1" } as const;
const end = { type: "tool_call", status: "end", tool: "Bash", callId: "1" } as const;

const kinds = (items: LogItem[]) =>
  items.map((item) => (item.kind === "line" ? item.tone : item.kind));

describe("logItems", () => {
  test("output is shown by its author, never by its text", () => {
    const events = log(
      { type: "output", chunk: "Tool: Read(a)", role: "assistant" },
      { type: "output", chunk: "Error: no", role: "note" },
      { type: "output", chunk: "API error", role: "error" },
      { type: "output", chunk: "Tool: Read(a)\nTool error\n\n" },
    );
    expect(kinds(logItems(events, false))).toEqual(["prose", "note", "error", "plain", "plain"]);
  });

  test("start and end of a tool call are one item", () => {
    const events = log(
      { ...start, summary: "npm test" },
      { type: "output", chunk: "x", role: "note" },
      { ...end, exitCode: 1, output: "failed" },
    );
    const [call, note] = logItems(events, false);
    expect(call).toMatchObject({ kind: "tool", endSequence: 3, end: { exitCode: 1 } });
    expect(note?.key).toBe("2");
    expect(call && textOf(call)).toBe("$ Bash npm test (exit code 1)\nfailed");
  });

  test("end of a call that started before the events is an item, which keeps its key", () => {
    const [ended] = logItems(log({ ...end, output: "ok" }), false);
    expect(ended).toMatchObject({ kind: "tool", end: { output: "ok" } });
    const [call] = logItems(log(start, { ...end, output: "ok" }), false);
    expect(call?.key).toBe(ended?.key);
  });

  test("keys are unique if a runner repeats the id of a call", () => {
    const keys = logItems(log(start, start, end, start), false).map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
  });

  test("what serves the loop itself is shown in the raw log only", () => {
    const events = log(
      { type: "output", chunk: "Read prompt.md", role: "prompt" },
      { type: "output", chunk: "Thinking...", role: "thinking" },
      { ...start, isInternal: true },
      { ...end, isInternal: true },
      { type: "output", chunk: "<promise>COMPLETE</promise>", role: "control" },
      { type: "usage" },
      { type: "output", chunk: "Turn complete", role: "note" },
    );
    expect(kinds(logItems(events, false))).toEqual(["note"]);
    expect(kinds(logItems(events, true))).toEqual(["raw", "raw", "tool", "raw", "note"]);
  });

  test("what a subagent does is nested", () => {
    const events = log(
      { ...start, callId: "a" },
      { ...start, callId: "b", parentId: "a" },
      { type: "output", chunk: "deep", role: "assistant", parentId: "b" },
      { type: "output", chunk: "of an unknown call", role: "assistant", parentId: "z" },
    );
    expect(logItems(events, false).map(({ depth }) => depth)).toEqual([0, 1, 2, 1]);
  });

  test("only the first line of an event has a time, and keys are unique", () => {
    const items = logItems(log({ type: "output", chunk: "a\r\nb\rc", timestamp: "t" }), false);
    expect(items.map(({ key, at }) => [key, at])).toEqual([
      ["1", "t"],
      ["1:1", undefined],
      ["1:2", undefined],
    ]);
  });

  test("long line is truncated", () => {
    const [line] = logItems(log({ type: "output", chunk: "x".repeat(100_000) }), false);
    expect(line && textOf(line).length).toBeLessThan(2_100);
  });

  test("states of the loop are notes, its end is the last item", () => {
    const events = log(
      { type: "started" },
      { type: "progress", stage: "build", tasks: { completed: 1, total: 3 } },
      { type: "queue", chunk: "1 of 2", queue: { place: 1, waiting: 2 } },
      { type: "question", text: "Which colour?" },
      { type: "unreadable", kind: "teleported" },
      { type: "cancelled", reason: "by user" },
    );
    expect(logItems(events, false).map(textOf)).toEqual([
      "Started",
      "Phase: build · 1 of 3 tasks",
      "1 of 2",
      "Question: Which colour?",
      "Cancelled: by user",
    ]);
  });
});
