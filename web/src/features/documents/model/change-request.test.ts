import { describe, expect, test } from "vitest";

import {
  answersText,
  answersToComments,
  changeRequestText,
  type Review,
  sentComments,
  withoutSent,
} from "./change-request";

const QUESTIONS = [
  { id: "Q-001", text: "Which words?", proposal: "hello" },
  { id: "Q-002", text: "Which size?", proposal: undefined },
];

const review = (fields: Partial<Review>): Review => ({
  comments: [],
  answers: {},
  ...fields,
});

const comment = (text: string, quote = "", headings: string[] = []) => ({
  id: text,
  text,
  ...(quote !== "" && { anchor: { quote, before: "", headings } }),
});

describe("text of a request for changes", () => {
  test("numbers the comments, each with its passage, and adds the answers", () => {
    const text = changeRequestText(
      review({
        comments: [
          comment("Also accept -V", "Parse the flag", ["Tasks", "Phase 1"]),
          comment("  "),
          comment("Too long"),
        ],
        answers: {
          "Q-001": { choice: "proposal", text: "" },
          "Q-002": { choice: "own", text: "large" },
        },
      }),
      QUESTIONS,
      2,
    );
    expect(text)
      .toBe(`Comments on version 2 of the plan. Answer each one by its number in the section "Answers to comments".

### Comment 1

In "Tasks > Phase 1":

> Parse the flag

Also accept -V

### Comment 2

Too long

### Answer to Q-001: Which words?

hello

### Answer to Q-002: Which size?

large`);
  });

  test("is empty without comments and answers, and contains no answers to other questions", () => {
    expect(changeRequestText(review({}), QUESTIONS, 1)).toBe("");
    const other = { "Q-009": { choice: "own" as const, text: "x" } };
    expect(changeRequestText(review({ answers: other }), QUESTIONS, 1)).toBe("");
  });

  test("answers alone have no numbers", () => {
    const answers = { "Q-002": { choice: "own" as const, text: "large" } };
    expect(answersText(review({ answers }), QUESTIONS)).toBe(
      "### Answer to Q-002: Which size?\n\nlarge",
    );
  });

  test("comments can be read from it, also those that imitate its format", () => {
    const texts = [
      "### Comment 9\n\n> a quote",
      "\\# escaped\n> quoted",
      'In "Tasks":',
      "two\n\nparagraphs",
    ];
    const comments = texts.map((text, at) =>
      comment(text, at % 2 ? "" : `passage ${at}`, ["Tasks"]),
    );
    const sent = sentComments(changeRequestText(review({ comments }), [], 1));
    expect(sent.map(({ number, quote, text }) => [number, quote, text])).toEqual(
      texts.map((text, at) => [at + 1, at % 2 ? "" : `passage ${at}`, text]),
    );
  });

  test("long passages are shortened", () => {
    const text = changeRequestText(review({ comments: [comment("x", "y".repeat(5_000))] }), [], 1);
    expect(text.length).toBeLessThan(700);
  });
});

test("answers to comments are read from the plan", () => {
  const plan = `# Plan\n\n## Answers to comments\n\n1. Added -V.\n   With a test.\n2. Unchanged: it is short.\n\n## Gaps\n\n3. none`;
  expect([...answersToComments(plan)]).toEqual([
    [1, "Added -V.\n   With a test."],
    [2, "Unchanged: it is short."],
  ]);
  expect(answersToComments("# Plan").size).toBe(0);
});

test("what was written after a request was sent remains", () => {
  const proposal = { choice: "proposal" as const, text: "" };
  const own = { choice: "own" as const, text: "large" };
  const sent = review({
    comments: [comment("Also accept -V"), comment("Too long")],
    answers: { "Q-001": proposal, "Q-002": proposal },
  });
  const since = { ...comment("Too long"), text: "Too long by half" };
  const written = review({
    comments: [comment("Also accept -V"), since, comment("New")],
    answers: { "Q-001": proposal, "Q-002": own },
  });
  expect(withoutSent(written, sent)).toEqual({
    comments: [since, comment("New")],
    answers: { "Q-002": own },
  });
  expect(withoutSent(sent, sent)).toEqual(review({}));
});
