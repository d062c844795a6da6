import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { clientOf, fetchWithTimeout, unwrap } from "./client";
import {
  isConnectionLost,
  onConnectionChange,
  reportNoResponse,
  useConnection,
} from "./connection";

/** Times of the probes of a server that is down for some seconds. */
function serverDownFor(seconds: number): number[] {
  const start = Date.now();
  const probes: number[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    if (url !== "/health") return Promise.resolve(new Response());
    const elapsed = (Date.now() - start) / 1000;
    probes.push(elapsed);
    return elapsed < seconds
      ? Promise.reject(new TypeError("connection refused"))
      : Promise.resolve(new Response("OK"));
  });
  return probes;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("probes with backoff until the server responds, and reports both changes once", async () => {
  const changes: boolean[] = [];
  const stop = onConnectionChange(() => changes.push(isConnectionLost()));
  const probes = serverDownFor(13);
  const recovered = vi.fn();
  void reportNoResponse().then(recovered);
  void reportNoResponse();
  await vi.advanceTimersByTimeAsync(0);
  expect(changes).toEqual([true]);
  await vi.advanceTimersByTimeAsync(16_900);
  expect(recovered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(100);
  expect(probes).toEqual([0, 1, 3, 7, 12, 17]);
  expect(recovered).toHaveBeenCalledOnce();
  expect(changes).toEqual([true, false]);
  stop();
});

test("single failed request is not a lost connection", async () => {
  serverDownFor(0);
  const change = vi.fn();
  const stop = onConnectionChange(change);
  await reportNoResponse();
  expect(change).not.toHaveBeenCalled();
  stop();
});

test("page is outdated when the server no longer has its code", async () => {
  const { result } = renderHook(useConnection);
  let status = 404;
  vi.stubGlobal("fetch", (url: string) =>
    Promise.resolve(new Response(null, { status: url === "/health" ? 200 : status })),
  );
  for (const [code, isOutdated] of [
    [404, true],
    // An error that says nothing about the version.
    [503, false],
    [200, false],
  ] as const) {
    status = code;
    await act(reportNoResponse);
    expect(result.current).toMatchObject({ isLost: false, isOutdated });
  }
});

test("probe without a response fails after 1.5 seconds", async () => {
  let hangs = true;
  vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) =>
    hangs
      ? new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("timeout"))),
        )
      : Promise.resolve(new Response("OK")),
  );
  vi.useRealTimers();
  const recovery = reportNoResponse();
  await vi.waitFor(() => expect(isConnectionLost()).toBe(true), { timeout: 2_000 });
  hangs = false;
  await recovery;
  expect(isConnectionLost()).toBe(false);
  vi.useFakeTimers();
});

test.each([
  ["JSON", "application/json", 10_000],
  ["an upload", "application/octet-stream", 60_000],
])("request with %s times out", async (_, type, limit) => {
  const timeout = vi.spyOn(AbortSignal, "timeout");
  vi.stubGlobal("fetch", () => Promise.resolve(new Response()));
  await fetchWithTimeout(
    new Request("http://localhost/x", {
      method: "POST",
      headers: { "Content-Type": type },
      body: "x",
    }),
  );
  expect(timeout).toHaveBeenCalledExactlyOnceWith(limit);
});

test("HTTP error is a response", async () => {
  const fetched = vi.fn(() => Promise.resolve(new Response("", { status: 500 })));
  vi.stubGlobal("fetch", fetched);
  await expect(unwrap(clientOf("acme").GET("/me"))).rejects.toThrow("status 500");
  // Without a probe.
  expect(fetched).toHaveBeenCalledOnce();
});
