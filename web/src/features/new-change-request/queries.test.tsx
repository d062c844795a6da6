import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import { Blob as NodeBlob } from "node:buffer";
import type { ReactNode } from "react";
import { beforeEach, expect, test, vi } from "vitest";

import { type Scope, scopeOf } from "@/api/scope";
import type { BrowserKey } from "@/signing/browser-key";

import type { RequestFile } from "./model/attachments";
import { useStartRequest } from "./queries";

const signer = vi.hoisted(() => ({ key: undefined as BrowserKey | undefined }));
vi.mock("@/signing/commands", () => ({ signingKey: () => Promise.resolve(signer.key) }));
vi.mock("@/signing/sign", () => ({ signRequest: () => Promise.resolve({}) }));
vi.mock("@/signing/launch", () => ({ signedLaunch: () => Promise.resolve({}) }));
vi.mock("@/api/scope", async (original) => {
  const actual = await original<{ scopeOf: (slug: string) => Scope }>();
  return { ...actual, useScope: () => scopeOf("acme") };
});

const KEY = { value: "k1", keep: () => undefined, drop: () => undefined };
const sent: { method: string; path: string; key: string | null; body: unknown }[] = [];
let content: string;

beforeEach(() => {
  sent.length = 0;
  content = "Greet";
  vi.stubGlobal("fetch", async (request: Request) => {
    const { method } = request;
    const path = new URL(request.url).pathname;
    const body: unknown = method === "GET" ? undefined : await request.json();
    sent.push({ method, path, key: request.headers.get("Idempotency-Key"), body });
    return Response.json({
      success: true,
      data: { id: "d1", currentVersion: 1, content, loopId: "l1" },
    });
  });
});

const repo = { fullName: "acme/shop" };

async function requestPlan(ticketDocument?: string, files: RequestFile[] = []): Promise<void> {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useStartRequest(KEY, () => undefined), {
    wrapper,
  });
  await act(async () => {
    result.current.mutate({
      text: "Greet",
      command: "plan",
      ticketDocument,
      files,
      selection: { repo },
    });
    await vi.waitFor(() => expect(sent.at(-1)?.path).toMatch(/run-loop$/));
  });
}

test("plan is requested with one request, which contains the files", async () => {
  signer.key = undefined;
  const file = {
    id: "f1",
    name: "a.txt",
    type: "text/plain",
    content: new NodeBlob(["Blue."]) as Blob,
  };
  await requestPlan(undefined, [file]);
  const attachments = [{ filename: "a.txt", mimeType: "text/plain", content: btoa("Blue.") }];
  expect(sent.map(({ path, body }) => [path, body])).toEqual([
    [
      "/documents/run-loop",
      {
        document: { type: "FEATURE", title: "Greet", content: "Greet", repo, attachments },
        run: { command: "plan", repo },
      },
    ],
  ]);
  expect(sent[0]?.key).toBe("k1");
});

test("ticket is started with a prompt only if its text was changed", async () => {
  signer.key = undefined;
  await requestPlan("t1");
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /documents/t1",
    "POST /documents/d1/run-loop",
  ]);
  expect(sent[1]?.body).toEqual({ command: "plan", repo, version: 1 });
  sent.length = 0;
  content = "Another text";
  await requestPlan("t2");
  expect(sent[1]?.body).toEqual({ command: "plan", repo, version: 1, prompt: "Greet" });
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
