import { expect, test } from "vitest";

import type { Document } from "@/api/types";

import { parseRepository } from "./repository-input";
import {
  emptyRequest,
  limitOf,
  limitProblem,
  modelProblem,
  repoRefOf,
  requestOf,
  selectionOf,
} from "./request-draft";

test.each([
  ["", undefined],
  [" $5 ", 5],
  ["2.50", 2.5],
  ["2,5", 2.5],
])("limit %j is %j", (entered, limit) => {
  expect(limitOf(entered)).toBe(limit);
  expect(limitProblem(entered)).toBeUndefined();
});

test.each(["0", "0.00", "-1", "five", "1e9", "1.234"])("limit %j is refused", (entered) => {
  expect(limitProblem(entered)).toBeDefined();
});

test("model is a single word and no option", () => {
  for (const name of ["", "opus", " claude-opus-4-6 ", "us.anthropic:v1[1m]"])
    expect(modelProblem(name), name).toBeUndefined();
  for (const name of ["--help", "a b"]) expect(modelProblem(name), name).toBeDefined();
});

test("repository has the entered branch, else that of the address", () => {
  const of = (text: string, branch = "", foundName?: string) =>
    repoRefOf({ input: parseRepository(text), branch, foundName });
  expect(of("acme/shop")).toEqual({ fullName: "acme/shop" });
  expect(of("https://github.com/acme/shop/tree/next")).toEqual({
    fullName: "acme/shop",
    branch: "next",
  });
  expect(of("https://github.com/acme/shop/tree/next", " main ")).toEqual({
    fullName: "acme/shop",
    branch: "main",
  });
  expect(of("~/src/shop")).toBeUndefined();
  expect(of("~/src/shop", "", "acme/shop")).toEqual({ fullName: "acme/shop" });
  expect(of("nothing")).toBeUndefined();
});

test("only what differs from the defaults is sent", () => {
  const repo = { fullName: "acme/shop" };
  expect(selectionOf(emptyRequest(), [repo])).toEqual({ repo });
  const draft = {
    ...emptyRequest(),
    mode: "implement" as const,
    targetId: "t1",
    model: " opus ",
    limit: "5",
    agents: [],
    selfLearning: true,
  };
  const peer = { fullName: "acme/api", branch: "next" };
  expect(selectionOf(draft, [repo, peer])).toEqual({
    repo,
    additionalRepos: [peer],
    computeTargetId: "t1",
    model: "opus",
    maxSpendUsd: 5,
    agents: [],
    selfLearning: true,
    withoutPlan: true,
  });
});

test("request that is started again has the values of the first loop", () => {
  const loop = { command: "EXECUTE", repo: null, computeTargetId: "t2" };
  const document = {
    content: "Add a cart",
    repo: { fullName: "acme/shop", branch: "main" },
    loops: [
      { ...loop, command: "PLAN", computeTargetId: "t9" },
      { ...loop, additionalRepos: [{ fullName: "acme/api", branch: "" }] },
    ],
  } as unknown as Document;
  const { peers, ...again } = requestOf(document, {
    model: "opus",
    maxSpendUsd: 2.5,
    agents: null,
    selfLearning: true,
  });
  expect(peers).toMatchObject([{ repository: "acme/api", branch: "" }]);
  expect(again).toMatchObject({
    prompt: "Add a cart",
    repository: "acme/shop",
    branch: "main",
    mode: "implement",
    targetId: "t2",
    model: "opus",
    limit: "2.5",
    agents: undefined,
    selfLearning: true,
  });
});
