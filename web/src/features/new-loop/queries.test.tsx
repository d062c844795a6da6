import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, expect, test, vi } from "vitest";

import { type Scope, scopeOf } from "@/api/scope";
import type { BrowserKey } from "@/signing/browser-key";

import { usePlanRequest } from "./queries";

const signer = vi.hoisted(() => ({ key: undefined as BrowserKey | undefined }));
vi.mock("@/signing/commands", () => ({ signingKey: () => Promise.resolve(signer.key) }));
vi.mock("@/signing/sign", () => ({ signRequest: () => Promise.resolve({}) }));
vi.mock("@/signing/launch", () => ({ signedLaunch: () => Promise.resolve({}) }));
vi.mock("@/api/scope", async (original) => {
  const actual = await original<{ scopeOf: (slug: string) => Scope }>();
  return { ...actual, useScope: () => scopeOf("acme") };
});

const sent: { path: string; key: string | null; body: unknown }[] = [];

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    sent.push({ path, key: request.headers.get("Idempotency-Key"), body: await request.json() });
    return Response.json({
      success: true,
      data: { id: "d1", currentVersion: 1, content: "Greet", loopId: "l1" },
    });
  });
});

async function requestPlan(): Promise<void> {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => usePlanRequest(["k1", () => undefined], () => undefined), {
    wrapper,
  });
  await act(async () => {
    result.current.mutate({ prompt: "Greet", repo: { fullName: "acme/shop" } });
    await vi.waitFor(() => expect(sent.at(-1)?.path).toMatch(/run-loop$/));
  });
}

test("plan is requested with one request", async () => {
  signer.key = undefined;
  await requestPlan();
  const repo = { fullName: "acme/shop" };
  expect(sent.map(({ path, body }) => [path, body])).toEqual([
    [
      "/documents/run-loop",
      {
        document: { type: "FEATURE", title: "Greet", content: "Greet", repo },
        run: { command: "plan", repo },
      },
    ],
  ]);
  expect(sent[0]?.key).toBe("k1");
});

test("signed start creates the document first, with a key of its own", async () => {
  signer.key = {} as BrowserKey;
  await requestPlan();
  const [document, preview, run] = sent;
  expect(sent.map(({ path }) => path)).toEqual([
    "/documents",
    "/documents/d1/run-loop/preview",
    "/documents/d1/run-loop",
  ]);
  expect([document, preview, run].map((request) => request?.key)).toEqual([
    "k1-document",
    null,
    "k1",
  ]);
});
