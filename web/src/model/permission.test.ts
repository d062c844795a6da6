import { expect, test } from "vitest";

import { type PermissionFacts, permissionSentence } from "./permission";

const facts: PermissionFacts = {
  mode: "plan",
  repositories: ["acme/shop"],
  machine: "studio-7",
  start: { approval: "none", model: "opus" },
  holds: false,
  limitUsd: undefined,
};

test("plan changes no code, and an implementation is delivered", () => {
  expect(permissionSentence(facts)).toBe(
    "On studio-7, the assistant reads files and runs commands in a separate worktree of acme/shop; it writes a plan, changes no code, and nothing is pushed.",
  );
  expect(permissionSentence({ ...facts, mode: "implement" })).toMatch(
    /changes files .* opens a pull request, and merges nothing\.$/,
  );
  expect(permissionSentence({ ...facts, mode: "implement", holds: true })).toContain(
    "opens a pull request once a person has approved the changes",
  );
});

test("the smaller limit and the peers are named", () => {
  const sentence = permissionSentence({
    ...facts,
    repositories: ["acme/shop", "acme/api"],
    start: { approval: "none", model: "opus", maxSpendUsd: 2 },
    limitUsd: 5,
  });
  expect(sentence).toContain("acme/shop, reads acme/api and spends at most $2.00;");
});

test("approval that is required, denied or not known is said", () => {
  const required = { approval: "required" as const, model: "opus", reason: "a policy requires it" };
  expect(permissionSentence({ ...facts, start: required })).toMatch(
    /^Once the owner of studio-7 has approved the loop \(a policy requires it\), the assistant/,
  );
  expect(permissionSentence({ ...facts, start: { approval: "denied", model: "opus" } })).toBe(
    "The approval policy of studio-7 denies loops on acme/shop: the loop would be refused.",
  );
  expect(permissionSentence({ ...facts, machine: undefined, start: undefined })).toMatch(
    /^If the approval policy of the machine permits it, /,
  );
});
