import { expect, test } from "vitest";

import type { ReviewFinding } from "@/api/types";

import { contentId } from "./content-id";
import {
  commentText,
  type Finding,
  findingCounts,
  findingsOf,
  findingPlace,
  groupFindings,
  indexesOf,
  neighbour,
  severityTone,
  shownFindings,
} from "./findings";

const stored = (message: string, more: Partial<ReviewFinding> = {}): ReviewFinding => ({
  severity: "high",
  file: "src/cart.ts",
  line: 14,
  message,
  ...more,
});
function findingOf(provider: string, own: ReviewFinding): Finding {
  const [only] = findingsOf(provider, [own]);
  if (!only) throw new Error("no finding");
  return only;
}
const finding = (message: string, more: Partial<ReviewFinding> = {}, provider = "reviewer") =>
  findingOf(provider, stored(message, more));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("finding is read leniently", () => {
  expect(finding("The sum overflows\nLarge carts wrap.\n", { confidence: 0.9 })).toMatchObject({
    title: "The sum overflows",
    details: "Large carts wrap.",
    confidence: 0.9,
    path: "src/cart.ts",
    isDeclined: false,
  });
  const odd = findingOf("reviewer", {
    file: "./a.ts",
    line: 0,
    confidence: 90,
  });
  expect(odd).toMatchObject({ title: "Finding without text", severity: "info", path: "a.ts" });
  expect([odd.line, odd.confidence, odd.isDeclined]).toEqual([undefined, undefined, false]);
  expect(findingPlace(odd)).toBe("a.ts");
  expect(findingPlace(findingOf("reviewer", {}))).toBe("The whole change");
  expect(
    ["critical", "Medium", "low", "odd"].map((severity) => severityTone(finding("", { severity }))),
  ).toEqual(["bad", "warn", "idle", "idle"]);
});

test("id does not depend on the line, and differs between files and texts", () => {
  expect(finding("a").id).toBe(finding("a", { line: 20, outdated: true }).id);
  expect(new Set(["a", "b", "aa"].map((text) => finding(text).id)).size).toBe(3);
  expect(finding("a").id).not.toBe(finding("a", { file: "b.ts" }).id);
  const twice = findingsOf("reviewer", [stored("a"), stored("a", { line: 20 })]);
  expect(new Set(twice.map(({ id }) => id)).size).toBe(2);
  expect(contentId("a")).toMatch(UUID);
  expect(contentId("\ud800")).toMatch(UUID);
});

test("duplicates are one group, and severe findings are first", () => {
  const own = [finding("low", { severity: "low" }), finding("overflow")];
  const other = [
    finding("it overflows", {}, "assistant"),
    finding("race", { severity: "critical" }, "assistant"),
  ];
  const groups = groupFindings(own, other, [[1, 0]]);
  expect(groups.map(({ first, others }) => [first.title, others.length])).toEqual([
    ["race", 0],
    ["overflow", 1],
    ["low", 0],
  ]);
});

test("state follows from the person's comments and the decision on all findings of a group", () => {
  const groups = groupFindings(
    [
      finding("a"),
      finding("b"),
      finding("c", { declined: true }),
      finding("d", { declined: true }),
      finding("e", { commented: true }),
    ],
    [finding("d too", {}, "assistant")],
    [[3, 0]],
  );
  const shown = shownFindings(groups, ({ first }) => first.title, [{ id: "a" }], [{ id: "b" }]);
  expect(shown.map(({ state }) => state)).toEqual(["added", "sent", "dismissed", "open", "posted"]);
  expect(findingCounts(shown)).toBe("5 findings · 1 open");
  expect(findingCounts(shown.slice(0, 1))).toBe("1 finding · 0 open");
});

test("comment contains the finding and its suggestion, and has the length that is permitted", () => {
  const [group] = groupFindings([finding("Overflow\nDetails", { suggestion: "checked" })], [], []);
  expect(group && commentText(group)).toBe(
    "Overflow\n\nDetails\n\nSuggestion: checked\n\n(Finding of the reviewer, severity high)",
  );
  const [long] = groupFindings([finding("x".repeat(20_000))], [], []);
  expect(long && commentText(long)).toHaveLength(10_000);
});

test("equal findings have different indexes", () => {
  const list = [stored("b"), stored("a"), stored("a")];
  const ids = findingsOf("reviewer", list).map(({ id }) => id);
  expect(indexesOf("reviewer", list, [ids[2] ?? ""])).toEqual([2]);
  expect(indexesOf("reviewer", list, [finding("a").id, "of another review"])).toEqual([1]);
});

test("next finding is the one below, and after the last one the first", () => {
  const groups = ["a", "b", "c"].map((title, index) => finding(title, { line: 30 - index * 10 }));
  const shown = shownFindings(groupFindings(groups, [], []), ({ id }) => id, [], []);
  const step = (from: string | undefined, direction: 1 | -1) => {
    const id = from && finding(from).id;
    return neighbour(shown, ({ first }) => [0, first.line ?? 0], id, direction)?.first.title;
  };
  expect(["c", "b", "a", undefined].map((from) => step(from, 1))).toEqual(["b", "a", "c", "c"]);
  expect(["c", "a", undefined].map((from) => step(from, -1))).toEqual(["a", "b", "a"]);
  expect(neighbour([], () => [0, 0], undefined, 1)).toBeUndefined();
});
