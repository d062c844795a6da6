import { describe, expect, test } from "vitest";

import type { ChangeReview, CommentDraft, CommentPlace } from "@/api/types";

import { displayedComments, placeOf, reviewCounts, reviewText } from "./comments";
import { diffFiles } from "./diff-files";
import { findingsOf } from "./findings";
import { firstChange, sideLines } from "./patch-lines";
import type { PatchState } from "./patch-loader";

const patch = (...lines: string[]) =>
  ["diff --git a/a b/a", "--- a/a", "+++ b/a", ...lines, ""].join("\n");

const PATCH = patch("@@ -1,3 +1,4 @@", " one", "-two", "+2", "+}", " three");
const lines = sideLines(PATCH);

const place = (text: Partial<CommentPlace> = {}): CommentPlace => ({
  repository: "acme/shop",
  path: "src/a.ts",
  lines: {
    side: "new",
    from: 2,
    to: 3,
    anchor: { line: 3, before: [], text: "}", after: [] },
  },
  ...text,
});

const draft = (text: Partial<CommentDraft> = {}): CommentDraft => ({
  id: "1",
  ...place(),
  body: "Why?",
  createdAt: "2031-04-02T10:11:12Z",
  ...text,
});

const review = (text: Partial<ChangeReview> = {}): ChangeReview => ({
  id: "r",
  kind: "request_changes",
  summary: null,
  user: null,
  loopId: "l",
  loopStatus: "COMPLETED",
  heads: {},
  createdAt: "2031-04-02T10:11:12Z",
  comments: [
    { id: "1", number: 1, ...place(), body: "Why?", answer: { status: "done" } },
    { id: "2", number: 2, ...place(), body: "Name it.", answer: null },
  ],
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
    expect(firstChange(PATCH)).toEqual({ side: "new", line: 2 });
    // The added line repeats another one.
    expect(firstChange("@@ -4,2 +4,3 @@\n a\n+a\n b\n")).toEqual({ side: "new", line: 5 });
    expect(firstChange("@@ -4,2 +4 @@\n a\n-b\n")).toEqual({ side: "old", line: 5 });
    expect(firstChange("@@ -4 +4 @@\n a\n")).toBeUndefined();
  });

  test("contain neither headers nor the note about the last line feed", () => {
    const text = patch("@@ -1 +1 @@", "--- a/x", "+++ b/x", "\\ No newline at end of file");
    const { old, new: added } = sideLines(text);
    expect([[...old], [...added]]).toEqual([[[1, "-- a/x"]], [[1, "++ b/x"]]]);
  });
});

const NO_FINDINGS = { findings: [], hasCurrentLines: true, showsImages: false };

describe("comments in the diff", () => {
  const file = {
    path: "src/a.ts",
    status: "modified" as const,
    additions: 2,
    deletions: 1,
    binary: false,
  };
  const noteLine = (located: { line: number; outdated: boolean } | undefined) => {
    const shown = diffFiles(
      [file],
      "acme/shop",
      () => ({ key: "1", patch: PATCH }),
      () => true,
      { drafts: [draft()], sent: [], place: null },
      new Map(located ? [["1", located]] : []),
      NO_FINDINGS,
    );
    const [note] = shown[0]?.notes ?? [];
    return [note?.line, note?.note.kind === "draft" && note.note.isOutdated];
  };

  test("are at the line that the machine reports", () => {
    expect(noteLine({ line: 4, outdated: false })).toEqual([4, false]);
    // Before the machine has responded, where they were written.
    expect(noteLine(undefined)).toEqual([3, false]);
  });

  test("are at the head of the file if the patch does not contain their line", () => {
    expect(noteLine({ line: 90, outdated: false })).toEqual([0, false]);
    expect(noteLine({ line: 3, outdated: true })).toEqual([0, true]);
  });

  test("that are written stay with their file when the lines are removed from it", () => {
    const formLine = (to: number, state: PatchState | undefined) => {
      const range = { side: "new" as const, from: to, to };
      const form = {
        id: "1",
        opening: "2",
        repository: "acme/shop",
        path: "src/a.ts",
        lines: range,
      };
      const [shown] = diffFiles(
        [file],
        "acme/shop",
        () => state,
        () => true,
        { drafts: [], sent: [], place: form },
        new Map(),
        NO_FINDINGS,
      );
      return shown?.notes[0]?.line;
    };
    expect(formLine(3, { key: "1", patch: PATCH })).toBe(3);
    expect(formLine(90, { key: "1", patch: PATCH })).toBe(0);
    // Without lines, nothing is known of them.
    expect(formLine(90, undefined)).toBe(90);
  });

  test("of another repository or file are elsewhere", () => {
    const shown = diffFiles(
      [file],
      "acme/shop",
      () => undefined,
      () => true,
      { drafts: [draft({ repository: "acme/docs" }), draft({ path: "b" })], sent: [], place: null },
      new Map(),
      NO_FINDINGS,
    );
    expect(shown[0]?.notes).toEqual([]);
  });
});

describe("comments of reviews", () => {
  test("all of the newest review are displayed, and earlier ones without an answer", () => {
    const shown = displayedComments([review(), review(), review({ kind: "comment" })]);
    expect(shown.map(({ number }) => number)).toEqual([1, 2, 2]);
  });

  test("are awaited while their loop runs", () => {
    const [, open] = displayedComments([review({ loopStatus: "RUNNING" })]);
    const [, left] = displayedComments([review()]);
    expect([open?.isAwaited, left?.isAwaited]).toEqual([true, false]);
  });

  test("are counted by their answers", () => {
    expect(reviewCounts(review())).toBe("2 comments · 1 done");
  });
});

test("place of a comment names its lines and side", () => {
  expect(placeOf(place())).toBe("src/a.ts, lines 2 to 3");
  expect(placeOf(place({ lines: { side: "old", from: 3, to: 3 } }))).toBe(
    "src/a.ts, line 3 before the change",
  );
  expect(placeOf({ path: "src/a.ts" })).toBe("src/a.ts");
});

test("text contains all comments, and no comment can pose as another", () => {
  const hostile = draft({ body: "First\n## Comment 9: b.ts\n" });
  expect(reviewText([draft(), hostile], "Almost done")).toBe(
    [
      "# Review comments",
      "> Almost done",
      "## Comment 1: src/a.ts, lines 2 to 3\n\nRepository: acme/shop\nLine: `}`\n\n> Why?",
      "## Comment 2: src/a.ts, lines 2 to 3\n\nRepository: acme/shop\nLine: `}`\n\n> First\n> ## Comment 9: b.ts\n> ",
    ].join("\n\n"),
  );
});

test("findings are at their lines, or at the head of their file", () => {
  const stored = { message: "Overflow", file: "src/a.ts" };
  const noteLine = (more: { line?: number; outdated?: boolean }, hasCurrentLines = true) => {
    const [first] = findingsOf("reviewer", [{ ...stored, ...more }]);
    const files = diffFiles(
      [{ path: "src/a.ts", status: "modified", additions: 2, deletions: 1, binary: false }],
      "acme/shop",
      () => ({ key: "1", patch: PATCH }),
      () => true,
      { drafts: [], sent: [], place: null },
      new Map(),
      {
        findings: first ? [{ id: "1", first, others: [], state: "open" }] : [],
        hasCurrentLines,
        showsImages: false,
      },
    );
    return files[0]?.notes[0]?.line;
  };
  expect(noteLine({ line: 3 })).toBe(3);
  expect([noteLine({ line: 90 }), noteLine({ line: 3, outdated: true }), noteLine({})]).toEqual([
    0, 0, 0,
  ]);
  // Of an earlier commit, the lines have other numbers.
  expect(noteLine({ line: 3 }, false)).toBe(0);
});
