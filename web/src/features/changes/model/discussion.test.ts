import { expect, test } from "vitest";

import type { ChatEvent } from "@/api/types";

import { displayedText, type LiveTurns, chatMessageOf, turnsOf, withEvent } from "./discussion";

const person = { id: "p", sender: "person", text: "It is cleared.", isDebate: true };
const run = (events: ChatEvent[], answering: string, turns = [person]) =>
  events.reduce<LiveTurns>((live, event) => withEvent(live, event, answering), {
    turns,
    isRunning: true,
  });

test("debate has a turn for each side", () => {
  const live = run(
    [
      { type: "status", status: "running", pid: 7, mode: "reviewer" },
      { type: "text", content: "Where " },
      { type: "keepalive" },
      { type: "text", content: "is it?" },
      { type: "status", status: "running", pid: 8, mode: "assistant" },
      { type: "status", sessionId: "s" },
      { type: "text", content: "In close()." },
      { type: "result", success: true },
      { type: "done", debateStatus: { outcome: "concession" } },
    ],
    "reviewer",
  );
  expect(live.turns.map(({ sender, text }) => [sender, text])).toEqual([
    ["person", "It is cleared."],
    ["reviewer", "Where is it?"],
    ["assistant", "In close()."],
  ]);
  expect(live).toMatchObject({ pid: 8, outcome: "concession" });
  expect(live.turns.every(({ isDebate }) => isDebate)).toBe(true);
});

test("one answer is that of the program that was asked, and a failure is an error", () => {
  const answer: ChatEvent = { type: "text", content: "Yes." };
  expect(run([answer], "assistant").turns.at(-1)?.sender).toBe("assistant");
  expect(run([{ type: "result", success: false }], "assistant").error).toMatch(/without an answer/);
  const failed = run(
    [
      { type: "error", error: "no credit" },
      { type: "result", success: false },
    ],
    "assistant",
  );
  expect(failed.error).toBe("no credit");
});

test("blocks for programs are not displayed, also while they arrive", () => {
  expect(displayedText('Yes.\n<debate-status>{"pendingIssues":[]}</debate-status>\nEnd')).toBe(
    "Yes.\n\nEnd",
  );
  expect(displayedText('Yes.\n<debate-status>{"pend')).toBe("Yes.");
  expect(displayedText("a <b> c")).toBe("a <b> c");
});

test("turns survive in the history of the finding", () => {
  const turns = [person, { id: "r", sender: "reviewer", text: "No.", isDebate: true }];
  const messages = turns.map((turn) => chatMessageOf(turn, "2030-01-01T00:00:00Z"));
  expect(turnsOf(messages)).toEqual(turns);
  expect(turnsOf([{ role: "assistant", content: "Hm." }])).toEqual([
    { id: "0", sender: "assistant", text: "Hm.", isDebate: false },
  ]);
});
