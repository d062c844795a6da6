import { QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

import { queryClient } from "@/api/query-client";
import { scopeOf } from "@/api/scope";

import { loopQuery } from "./queries";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("loop that does not exist is not polled", async () => {
  vi.useFakeTimers();
  const fetched = vi.fn(() => Promise.resolve(Response.json({ error: "no" }, { status: 404 })));
  vi.stubGlobal("fetch", fetched);
  const stop = new QueryObserver(queryClient, loopQuery(scopeOf("acme"), "x")).subscribe(
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  stop();
  expect(fetched).toHaveBeenCalledOnce();
});
