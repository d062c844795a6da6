import { describe, expect, test } from "vitest";

import { blocksOf, changedLines, compareVersions } from "./version-diff";

const BEFORE = `# Plan

Adds a flag that prints
the version.

## Tasks

- [ ] Parse the flag in cli.ts
  - files: cli.ts
- [ ] Print the version
- [ ] Add a test

| a | b |
|---|---|
| 1 | 2 |
`;

describe("comparison of versions", () => {
  test("list items are blocks with their sub-lists, a table is one block", () => {
    expect(blocksOf(BEFORE).map(({ line, source }) => [line, source.split("\n")[0]])).toEqual([
      [1, "# Plan"],
      [3, "Adds a flag that prints"],
      [6, "## Tasks"],
      [8, "- [ ] Parse the flag in cli.ts"],
      [10, "- [ ] Print the version"],
      [11, "- [ ] Add a test"],
      [13, "| a | b |"],
    ]);
  });

  test("equal texts and other line breaks are no changes", () => {
    const wrapped = BEFORE.replace("prints\nthe", "prints the");
    expect(new Set(compareVersions(BEFORE, wrapped).map(({ kind }) => kind))).toEqual(
      new Set(["same"]),
    );
  });

  test("changed, added and removed blocks are distinguished, with the changed words", () => {
    const after = BEFORE.replace("Parse the flag in", "Parse both flags in")
      .replace("- [ ] Print the version\n", "")
      .concat("\nA new paragraph.\n");
    const changes = compareVersions(BEFORE, after).filter(({ kind }) => kind !== "same");
    expect(changes.map(({ kind }) => kind)).toEqual(["changed", "removed", "added"]);
    const [changed] = changes;
    const words = changed?.kind === "changed" ? changed.words : [];
    const of = (kind: string) =>
      words.flatMap((word) => (word.kind === kind ? [word.text.trim()] : [])).join(" ");
    expect([of("removed"), of("added")]).toEqual(["the flag", "both flags"]);
    const texts = (kinds: string[]) =>
      words.flatMap((word) => (kinds.includes(word.kind) ? [word.text] : [])).join("");
    expect(texts(["same", "removed"])).toContain("Parse the flag in cli.ts");
    expect(texts(["same", "added"])).toContain("Parse both flags in cli.ts");
  });

  test("blocks without common words do not replace each other", () => {
    const kinds = compareVersions("One two three.", "Apples grow here.").map(({ kind }) => kind);
    expect(kinds).toEqual(["removed", "added"]);
  });

  test("lines of changed blocks refer to the later version", () => {
    const after = `New first paragraph.\n\n${BEFORE.replace("Add a test", "Add two tests")}`;
    expect([...changedLines(BEFORE, after)]).toEqual([1, 13]);
  });

  test("indentation of code is a change", () => {
    expect(changedLines("```\n a\n```", "```\n  a\n```").size).toBe(1);
  });
});
