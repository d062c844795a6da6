import { expect, test } from "vitest";

import { entryActions, selectionActions } from "./entry-actions";
import { undoOf } from "./undo";

const now = new Date(2031, 3, 5, 15, 30);
const entry = (facts: Partial<Parameters<typeof entryActions>[0]> = {}) => ({
  attention: "plan" as const,
  archivedAt: null,
  isUnread: false,
  snoozedUntil: null,
  ...facts,
});
const labels = (facts?: Parameters<typeof entry>[0], mayDelete = false) =>
  entryActions(entry(facts), mayDelete, now).map(({ label }) => label);

test("entry that needs a person is snoozed and marked, every other one is archived and deleted", () => {
  expect(labels()).toEqual([
    "Snooze for an hour",
    "Snooze until tomorrow",
    "Mark as unread",
    "Archive",
  ]);
  expect(labels({ attention: null, archivedAt: "2031-01-01" }, true)).toEqual([
    "Return to the list",
    "Delete",
  ]);
});

test("snoozed entry is shown at once; a snooze that has ended does not count", () => {
  expect(labels({ snoozedUntil: new Date(2031, 3, 5, 16).toISOString() })[0]).toBe("Show now");
  expect(labels({ snoozedUntil: new Date(2031, 3, 5, 15).toISOString() })[0]).toBe(
    "Snooze for an hour",
  );
});

test("tomorrow begins at nine", () => {
  const [, tomorrow] = entryActions(entry(), false, now);
  expect(tomorrow?.change).toMatchObject({
    snoozedUntil: new Date(2031, 3, 6, 9).toISOString(),
  });
});

test("selection is changed as one; snooze and mark concern the entries that need a person", () => {
  const [waiting, idle] = [entry(), entry({ attention: null })];
  const offered = selectionActions([waiting, idle], true, now);
  expect(offered.map(({ label, requests }) => [label, requests.length])).toEqual([
    ["Archive", 2],
    ["Snooze for an hour", 1],
    ["Snooze until tomorrow", 1],
    ["Mark as unread", 1],
    ["Delete", 2],
  ]);
  const archived = entry({ attention: null, archivedAt: "2031-01-01" });
  expect(selectionActions([archived], false, now).map(({ label }) => label)).toEqual([
    "Return to the list",
  ]);
});

const listed = (slug: string, isUnread = false) => ({
  document: { slug, title: slug } as Parameters<typeof undoOf>[0][number]["document"],
  isUnread,
});

test("change of several entries is undone as one, each with its own mark", () => {
  const entries = [listed("a", true), listed("b")];
  expect(undoOf(entries, { kind: "mark", seen: true, snoozedUntil: "2031-04-06" })).toEqual({
    text: "Snoozed 2 change requests.",
    changes: [
      { slug: "a", change: { kind: "mark", seen: false } },
      { slug: "b", change: { kind: "mark", seen: true } },
    ],
  });
  expect(undoOf([listed("a")], { kind: "delete" })).toEqual({
    text: "Deleted “a”. This can be undone for an hour.",
    changes: [{ slug: "a", change: { kind: "restore" } }],
  });
  expect(undoOf([listed("a")], { kind: "mark", seen: false })).toBeUndefined();
  expect(undoOf([], { kind: "delete" })).toBeUndefined();
});
