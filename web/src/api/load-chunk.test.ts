import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { isConnectionLost } from "./connection";
import { loadChunk } from "./load-chunk";

const failure = new TypeError("Failed to fetch dynamically imported module: /assets/x.js");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("imports the chunk again when the server responds", async () => {
  let isDown = true;
  const answer = () =>
    isDown ? Promise.reject(failure) : Promise.resolve(new Response("a response or a chunk"));
  vi.stubGlobal("fetch", answer);
  const load = vi.fn(answer);
  const chunk = loadChunk(load);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(isConnectionLost()).toBe(true);
  expect(load).toHaveBeenCalledOnce();
  isDown = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await chunk).toBeInstanceOf(Response);
});

test("chunk that the server no longer has asks for a reload, and does not cause one", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("OK")));
  await expect(loadChunk(() => Promise.reject(failure))).rejects.toThrow(
    "Loopgate was updated. Reload the page to continue.",
  );
});
