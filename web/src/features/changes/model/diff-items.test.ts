import { expect, test } from "vitest";

import type { ChangedFile } from "@/api/types";

import type { DiffFile } from "./diff-file";
import { DiffItems } from "./diff-items";

const file = (path: string): ChangedFile => ({
  path,
  status: "modified",
  additions: 1,
  deletions: 1,
  binary: false,
});

const PATCH =
  'diff --git "a/\\303\\274" "b/\\303\\274"\n--- "a/\\303\\274"\n+++ "b/\\303\\274"\n@@ -1 +1 @@\n-a\n+b\n';

const source = (changes: Partial<DiffFile> = {}): DiffFile => ({
  file: file("ü"),
  state: { key: "ü 1", patch: PATCH },
  isOpen: true,
  notes: [],
  ...changes,
});

test("item has the name of the list and the lines of the patch", () => {
  const [item] = new DiffItems().update([source()]);
  expect(item?.fileDiff).toMatchObject({
    name: "ü",
    additionLines: ["b\n"],
    deletionLines: ["a\n"],
  });
  expect(item?.collapsed).toBe(false);
});

test("item without a patch is closed", () => {
  const [item] = new DiffItems().update([source({ state: undefined })]);
  expect(item).toMatchObject({ collapsed: true, fileDiff: { hunks: [] } });
});

test("only an item whose file changes gets another version", () => {
  const items = new DiffItems();
  const [one, other] = [source(), source({ file: file("b") })];
  const first = items.update([one, other]);
  const note = { kind: "form", lines: undefined } as const;
  const second = items.update([{ ...one }, { ...other, notes: [{ side: "new", line: 1, note }] }]);
  expect(second[0]).toBe(first[0]);
  expect(second[1]).toMatchObject({
    version: 2,
    annotations: [{ side: "additions", lineNumber: 1, metadata: { card: "form" } }],
  });
  expect(second[1]?.fileDiff).toBe(first[1]?.fileDiff);
});

test("lines of an earlier content are not those that the viewer knows of the next one", () => {
  const state = { key: "ü 1", patch: PATCH };
  const changed = { ...file("ü"), hash: "2" };
  const [earlier] = new DiffItems().update([source({ file: changed, state })]);
  const next = { key: "ü 2", patch: PATCH.replace("+b", "+c") };
  const [current] = new DiffItems().update([source({ file: changed, state: next })]);
  expect(earlier?.fileDiff.cacheKey).not.toBe(current?.fileDiff.cacheKey);
});

test("of a file whose type changed, the new content is displayed", () => {
  const link =
    "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+target\n";
  const gone =
    "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
  const state = { key: "x 1", patch: gone + link };
  const [item] = new DiffItems().update([source({ file: file("x"), state })]);
  expect(item?.fileDiff.additionLines).toEqual(["target\n"]);
});
