import { describe, expect, test } from "vitest";

import { anchorOf, currentLine, placeOf, type ReviewComment, reviewText } from "./comments";
import { firstChange, sideLines } from "./patch-lines";

const patch = (...lines: string[]) =>
  ["diff --git a/a b/a", "--- a/a", "+++ b/a", ...lines, ""].join("\n");

const lines = sideLines(patch("@@ -1,3 +1,4 @@", " one", "-two", "+2", "+}", " three"));

const comment = (text: Partial<ReviewComment> = {}): ReviewComment => ({
  id: "1",
  repository: "acme/shop",
  path: "src/a.ts",
  ...anchorOf(lines, { side: "new", from: 2, to: 3 }),
  body: "Why?",
  ...text,
});

describe("lines of a patch", () => {
  test("have the numbers of their side", () => {
    expect([...lines.old]).toEqual([
      [1, "one"],
      [2, "two"],
      [3, "three"],
    ]);
    expect([...lines.new]).toEqual([
      [1, "one"],
      [2, "2"],
      [3, "}"],
      [4, "three"],
    ]);
    expect(firstChange(lines)).toEqual({ side: "new", line: 2 });
  });

  test("contain neither headers nor the note about the last line feed", () => {
    const text = patch("@@ -1 +1 @@", "--- a/x", "+++ b/x", "\\ No newline at end of file");
    const { old, new: added } = sideLines(text);
    expect([[...old], [...added]]).toEqual([[[1, "-- a/x"]], [[1, "++ b/x"]]]);
  });
});

describe("anchor of a comment", () => {
  test("is the line with its neighbours", () => {
    expect(comment()).toMatchObject({ text: "}", before: ["one", "2"], after: ["three"] });
  });

  test("follows a line that has moved", () => {
    const moved = sideLines(patch("@@ -1,3 +1,6 @@", "+a", "+b", " one", "+2", "+}", " three"));
    expect(currentLine(comment(), moved)).toBe(5);
  });

  test("prefers equal neighbours to a near line", () => {
    const twice = sideLines(
      patch("@@ -1 +1,9 @@", "+x", "+y", "+}", "+z", " one", "+2", "+}", " three"),
    );
    expect(currentLine(comment(), twice)).toBe(7);
  });

  test("is lost with its text", () => {
    expect(currentLine(comment(), sideLines(patch("@@ -1 +1 @@", "+other")))).toBeUndefined();
  });
});

test("place of a comment names its lines and side", () => {
  expect(placeOf(comment())).toBe("src/a.ts, lines 2 to 3");
  expect(placeOf(comment({ side: "old", from: 3 }))).toBe("src/a.ts, line 3 before the change");
  const onFile = comment();
  delete onFile.text;
  expect(placeOf(onFile)).toBe("src/a.ts");
});

test("request contains all comments, and no comment can pose as another", () => {
  const hostile = comment({ body: "First\n## Comment 9: b.ts\n" });
  expect(reviewText([comment(), hostile], "Almost done")).toBe(
    [
      "# Review comments",
      "> Almost done",
      "## Comment 1: src/a.ts, lines 2 to 3\n\nRepository: acme/shop\nLine: `}`\n\n> Why?",
      "## Comment 2: src/a.ts, lines 2 to 3\n\nRepository: acme/shop\nLine: `}`\n\n> First\n> ## Comment 9: b.ts\n> ",
    ].join("\n\n"),
  );
});
