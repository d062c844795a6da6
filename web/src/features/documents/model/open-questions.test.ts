import { expect, test } from "vitest";

import { answerText, openQuestions } from "./open-questions";

test("open questions are read with the proposals of the assistant", () => {
  const content = [
    "## Open Questions",
    "- [ ] Q-001: Which words? **[Recommended: hello, because it is short]**",
    "- [ ] **Q-002**: Which size?",
    "- [x] Q-003: Which colour? **Answer: blue**",
    "```",
    "- [ ] Q-004: Example?",
    "```",
  ].join("\n");
  expect(openQuestions(content)).toEqual([
    { id: "Q-001", text: "Which words?", proposal: "hello, because it is short" },
    { id: "Q-002", text: "Which size?", proposal: undefined },
  ]);
});

test("answer is the proposal or the text of the user", () => {
  const question = { id: "Q-001", text: "Which words?", proposal: "hello" };
  expect(answerText(question, undefined)).toBeUndefined();
  expect(answerText(question, { choice: "own", text: "  " })).toBeUndefined();
  expect(answerText(question, { choice: "own", text: " bye " })).toBe("bye");
  expect(answerText(question, { choice: "open", text: "bye" })).toBeUndefined();
  expect(answerText(question, { choice: "proposal", text: "bye" })).toBe("hello");
});
