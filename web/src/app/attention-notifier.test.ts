import { beforeEach, expect, test, vi } from "vitest";

import type { AttentionItem } from "./attention";
import { AttentionNotifier } from "./attention-notifier";

class FakeNotification {
  static shown: FakeNotification[] = [];
  onclick: (() => void) | undefined;
  isClosed = false;
  readonly title: string;

  constructor(title: string) {
    this.title = title;
    FakeNotification.shown.push(this);
  }

  close() {
    this.isClosed = true;
  }
}

const item = (id: string): AttentionItem => ({
  id,
  title: `title of ${id}`,
  request: "The assistant needs your answer",
  link: { to: "/$orgSlug/approvals", params: { orgSlug: "acme" } },
});

const all = (items: AttentionItem[]) => ({ items, end: undefined });

const open = vi.fn();
const isAnyTabVisible = vi.fn<() => Promise<boolean>>();
const titles = () => FakeNotification.shown.map(({ title }) => title);

beforeEach(() => {
  FakeNotification.shown = [];
  vi.stubGlobal("Notification", FakeNotification);
  isAnyTabVisible.mockResolvedValue(false);
});

test("new item is shown once, and items that existed before are not", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update(all([item("old")]), true);
  notifier.update(all([item("old"), item("new")]), true);
  notifier.update(all([item("old"), item("new")]), true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of new"]));
});

test("nothing is shown by another tab, or while a tab is visible", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update(all([]), true);
  notifier.update(all([item("a")]), false);
  isAnyTabVisible.mockResolvedValue(true);
  notifier.update(all([item("a"), item("b")]), true);
  await vi.waitFor(() => expect(isAnyTabVisible).toHaveReturned());
  isAnyTabVisible.mockResolvedValue(false);
  notifier.update(all([item("a"), item("b"), item("c")]), true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of c"]));
});

test("settled item is withdrawn, also before it is shown", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update(all([]), true);
  notifier.update(all([item("a")]), true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of a"]));
  let answer: (isVisible: boolean) => void = () => undefined;
  isAnyTabVisible.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  notifier.update(all([item("b")]), true);
  expect(FakeNotification.shown[0]?.isClosed).toBe(true);
  notifier.update(all([item("c")]), true);
  answer(false);
  await vi.waitFor(() => expect(titles()).toEqual(["title of a", "title of c"]));
});

test("click opens the item", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update(all([]), true);
  notifier.update(all([item("a")]), true);
  await vi.waitFor(() => expect(FakeNotification.shown).toHaveLength(1));
  vi.spyOn(window, "focus").mockReturnValue();
  FakeNotification.shown[0]?.onclick?.();
  expect(open).toHaveBeenCalledWith(item("a"));
  expect(FakeNotification.shown[0]?.isClosed).toBe(true);
});

const changed = (id: string, changedAt: string): AttentionItem => ({
  ...item(id),
  position: { changedAt, document: { id } },
});

test("item that moves to the first page is not new, and an item that leaves it is not settled", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  const [one, two, three] = [changed("1", "T1"), changed("2", "T2"), changed("3", "T3")];
  notifier.update({ items: [two], end: "T2" }, true);
  notifier.update({ items: [three], end: "T3" }, true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of 3"]));
  const four = changed("4", "T4");
  notifier.update({ items: [four], end: "T4" }, true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of 3", "title of 4"]));
  expect(FakeNotification.shown[0]?.isClosed).toBe(false);
  notifier.update({ items: [two, one], end: undefined }, true);
  await vi.waitFor(() =>
    expect(FakeNotification.shown.every(({ isClosed }) => isClosed)).toBe(true),
  );
  expect(titles()).toEqual(["title of 3", "title of 4"]);
});
