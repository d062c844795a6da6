import { expect, test } from "vitest";

import type { LearnedPattern } from "@/api/types";

import { canAgree, effectText, originText, scopeText } from "./text";

const pattern = (
  repo: string,
  history: Partial<LearnedPattern["history"]> = {},
): LearnedPattern => ({
  id: "P-001",
  category: "mistake",
  summary: "Run the migrations before the tests",
  confidence: "high",
  seen_count: 1,
  success_rate: 0,
  flags: [],
  applies_to: ["*"],
  context: [],
  repo,
  raw: "",
  history: {
    sources: [],
    proposed: false,
    needsAgreement: false,
    shown: 0,
    uses: 0,
    verified: 0,
    conflictsWith: [],
    ...history,
  },
});

const source = (file: string) => ({
  repo: "acme/shop",
  run: "shop-7",
  ticket: "",
  file,
  commit: "",
  evidence: "",
});

test("a learning of one repository can be agreed to, a general one cannot", () => {
  expect(scopeText(pattern("acme/shop"))).toBe("acme/shop");
  expect(scopeText(pattern("acme/shop", { proposed: true }))).toContain("other repositories");
  expect(canAgree(pattern("acme/shop"))).toBe(true);
  const agreement = { by: "Kim", at: "2030-01-01T00:00:00Z", repo: "acme/shop" };
  expect(scopeText(pattern("*", { agreement }))).toBe("All repositories, agreed by Kim");
  expect(canAgree(pattern("*", { agreement }))).toBe(false);
  expect(canAgree(pattern("*", { needsAgreement: true }))).toBe(true);
  expect(scopeText(pattern("*"))).toBe("All repositories");
});

test("origin and effect are described", () => {
  expect(originText(pattern("acme/shop"))).toBe("Written in the patterns file");
  const sources = [source("a.ts:1"), source("b.ts:2")];
  expect(originText(pattern("acme/shop", { sources }))).toBe(
    "Learned in acme/shop, b.ts:2 and 1 more",
  );
  expect(effectText(pattern("acme/shop"))).toBe("Never used");
  expect(effectText(pattern("acme/shop", { shown: 4 }))).toBe("Given to 4 agents, never applied");
  expect(effectText(pattern("acme/shop", { shown: 4, uses: 3, verified: 2 }))).toContain(
    "confirmed in the change 2 times",
  );
});
