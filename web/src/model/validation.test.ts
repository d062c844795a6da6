import { expect, test } from "vitest";

import { branchProblem, MAX_PROMPT_CHARS, promptProblem, repositoryProblem } from "./validation";

test.each([
  ["acme/shop", true],
  ["a.b-c_d/e.f", true],
  ["", false],
  ["shop", false],
  ["acme/shop/x", false],
  ["acme/sh op", false],
  ["https://github.com/acme/shop", false],
  [`a/${"x".repeat(300)}`, false],
])("repository %s is accepted: %s", (name, accepted) => {
  expect(repositoryProblem(name) === undefined).toBe(accepted);
});

test.each([
  ["main", true],
  ["release/2031-04_x.y", true],
  ["", true],
  ["a b", false],
  ["a;b", false],
])("branch %s is accepted: %s", (name, accepted) => {
  expect(branchProblem(name) === undefined).toBe(accepted);
});

test("prompt must be non-blank and at most the maximum length", () => {
  expect(promptProblem(" \n")).toBeDefined();
  expect(promptProblem("x".repeat(MAX_PROMPT_CHARS))).toBeUndefined();
  expect(promptProblem("x".repeat(MAX_PROMPT_CHARS + 1))).toBeDefined();
});
