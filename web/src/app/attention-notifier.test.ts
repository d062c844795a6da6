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
  notifier.update([item("old")], true);
  notifier.update([item("old"), item("new")], true);
  notifier.update([item("old"), item("new")], true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of new"]));
});

test("nothing is shown by another tab, or while a tab is visible", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update([], true);
  notifier.update([item("a")], false);
  isAnyTabVisible.mockResolvedValue(true);
  notifier.update([item("a"), item("b")], true);
  await vi.waitFor(() => expect(isAnyTabVisible).toHaveReturned());
  isAnyTabVisible.mockResolvedValue(false);
  notifier.update([item("a"), item("b"), item("c")], true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of c"]));
});

test("settled item is withdrawn, also before it is shown", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update([], true);
  notifier.update([item("a")], true);
  await vi.waitFor(() => expect(titles()).toEqual(["title of a"]));
  let answer: (isVisible: boolean) => void = () => undefined;
  isAnyTabVisible.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  notifier.update([item("b")], true);
  expect(FakeNotification.shown[0]?.isClosed).toBe(true);
  notifier.update([item("c")], true);
  answer(false);
  await vi.waitFor(() => expect(titles()).toEqual(["title of a", "title of c"]));
});

test("click opens the item", async () => {
  const notifier = new AttentionNotifier({ isAnyTabVisible, open });
  notifier.update([], true);
  notifier.update([item("a")], true);
  await vi.waitFor(() => expect(FakeNotification.shown).toHaveLength(1));
  vi.spyOn(window, "focus").mockReturnValue();
  FakeNotification.shown[0]?.onclick?.();
  expect(open).toHaveBeenCalledWith(item("a"));
  expect(FakeNotification.shown[0]?.isClosed).toBe(true);
});
