import { afterEach, expect, test, vi } from "vitest";

import { requestHeaders } from "./client";
import { sessionKey, setSessionKey } from "./session-key";

afterEach(() => {
  vi.unstubAllGlobals();
  setSessionKey(undefined);
});

test("every request carries the key until sign-out", () => {
  expect(requestHeaders()).toEqual({});
  setSessionKey("k1");
  expect(requestHeaders()).toEqual({ "X-Session-Key": "k1" });
  setSessionKey(undefined);
  expect(requestHeaders()).toEqual({});
});

test("key stored by another tab takes effect immediately", () => {
  setSessionKey("old");
  window.localStorage.setItem("loopgate.session-key", "new");
  expect(sessionKey()).toBe("new");
});

test("key lasts as long as the page when storage is unavailable", () => {
  vi.stubGlobal("localStorage", undefined);
  setSessionKey("k1");
  expect(sessionKey()).toBe("k1");
});
