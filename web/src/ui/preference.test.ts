import { expect, test, vi } from "vitest";

import { preference } from "./preference";

test("choice is stored and read", () => {
  window.localStorage.removeItem("test.stored");
  const first = preference("test.stored");
  expect(first.get()).toBeUndefined();
  first.set(false);
  expect(preference("test.stored").get()).toBe(false);
});

test("choice of another tab is received", () => {
  const own = preference("test.shared");
  const listener = vi.fn();
  own.subscribe(listener);
  window.localStorage.setItem("test.shared", "on");
  window.dispatchEvent(new StorageEvent("storage", { key: "test.shared" }));
  expect(own.get()).toBe(true);
  expect(listener).toHaveBeenCalledTimes(1);
});

test("without storage the choice lasts as long as the page", () => {
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("denied", "SecurityError");
  });
  const own = preference("test.denied");
  own.set(true);
  expect(own.get()).toBe(true);
});
