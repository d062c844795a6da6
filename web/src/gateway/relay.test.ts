// @vitest-environment node
import { afterEach, expect, test, vi } from "vitest";

import { scopeOf } from "@/api/scope";

import { killProcess, loopPatches, repositories, startReview } from "./operations";
import { relay, relayEvents } from "./relay";

vi.hoisted(() => vi.stubGlobal("window", { location: { origin: "http://page" } }));

afterEach(() => void vi.unstubAllGlobals());

/** Simulates a control plane whose desktop responds to a command with these events. */
function stubDesktop(...events: object[]): Request[] {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(
      input instanceof Request ? input : new URL(String(input), "http://page"),
      init,
    );
    // No desktop requires signatures.
    if (request.url.endsWith("/compute-targets")) {
      return Promise.resolve(Response.json({ success: true, data: [] }));
    }
    requests.push(request);
    if (request.method === "POST") {
      return Promise.resolve(
        Response.json({ success: true, data: { commandId: "c1", status: "queued" } }),
      );
    }
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    return Promise.resolve(new Response(text));
  });
  return requests;
}

const get = () => relay(scopeOf("acme"), "t1", repositories, new AbortController().signal);

test("result of the desktop is returned after other events", async () => {
  const requests = stubDesktop(
    { eventType: "status", data: { type: "status", status: "running" } },
    {
      eventType: "result",
      data: { type: "result", statusCode: 200, success: true, data: { repos: [] } },
    },
    { eventType: "done", data: { type: "done" } },
  );
  expect(await get()).toEqual({ repos: [] });
  expect(await requests[0]?.clone().json()).toMatchObject({
    operationId: "repos_config",
    method: "GET",
  });
  expect(requests.map(({ headers }) => headers.get("X-Org-Slug"))).toEqual(["acme", "acme"]);
  expect(requests[1]?.url).toContain("/compute-targets/t1/commands/c1/events");
});

test("error event of the desktop is thrown with its message", async () => {
  stubDesktop({
    eventType: "error",
    data: { type: "error", terminal: true, error: "gateway returned 403: {}" },
  });
  await expect(get()).rejects.toThrow("gateway returned 403");
});

test("error response of the gateway has the status, the code and the message of its body", async () => {
  const gatewayError = { statusCode: 403, error: "not agreed", code: "command_not_trusted" };
  stubDesktop({
    eventType: "error",
    data: { terminal: true, error: 'gateway returned 403: {"error":"not agreed"}', gatewayError },
  });
  await expect(get()).rejects.toMatchObject({
    message: "not agreed",
    status: 403,
    code: "command_not_trusted",
  });
});

test("change whose events are lost may have been made", async () => {
  const requests = stubDesktop();
  const respond = globalThis.fetch;
  vi.stubGlobal("fetch", (input: RequestInfo | URL, init?: RequestInit) =>
    (input instanceof Request ? input.url : String(input)).includes("/events")
      ? Promise.reject(new TypeError("Failed to fetch"))
      : respond(input, init),
  );
  const { signal } = new AbortController();
  const lost = relay(scopeOf("acme"), "t1", { ...killProcess(7), isChange: true }, signal);
  await expect(lost).rejects.toMatchObject({ problem: "unknown" });
  await expect(get()).rejects.toThrow("Failed to fetch");
  expect(requests).toHaveLength(2);
});

test("command that ends without a result is an error", async () => {
  stubDesktop({ eventType: "done", data: { type: "done", cancelled: true } });
  await expect(get()).rejects.toThrow("without a result");
});

test("body of the operation is part of the command", async () => {
  const requests = stubDesktop({ eventType: "result", data: { data: { patches: [] } } });
  const operation = loopPatches("l1", { repository: "acme/shop", paths: ["a.ts"] });
  await relay(scopeOf("acme"), "t1", operation, new AbortController().signal);
  expect(await requests[0]?.clone().json()).toMatchObject({
    operationId: "git_action",
    method: "POST",
    path: "/api/gateway/git/loop-changes/l1",
    body: { repository: "acme/shop", paths: ["a.ts"] },
  });
});

test("events of a stream are returned until the command has ended", async () => {
  const events = [
    { type: "status", status: "running" },
    { type: "text", content: "A finding." },
    { type: "result", success: true },
    { type: "done" },
  ];
  const requests = stubDesktop(
    ...events.map((data) => ({ eventType: data.type === "text" ? "chunk" : data.type, data })),
  );
  const operation = startReview({ repo: "/src/shop", ticket: "t" }, "reviewer", "main");
  const received: unknown[] = [];
  const { signal } = new AbortController();
  for await (const event of relayEvents(scopeOf("acme"), "t1", operation, signal))
    received.push(event);
  expect(received).toEqual(events);
  expect(await requests[0]?.clone().json()).toMatchObject({
    operationId: "reviewer_review",
    path: "/api/gateway/reviewer/review/t",
    timeoutMs: 3_600_000,
  });
  expect(requests).toHaveLength(2);
});

test("command whose events are no longer read is cancelled", async () => {
  const data = { type: "status", status: "running" };
  const requests = stubDesktop({ commandId: "c1", eventType: "status", data });
  const operation = startReview({ repo: "/src/shop", ticket: "t" }, "reviewer", undefined);
  const { signal } = new AbortController();
  for await (const event of relayEvents(scopeOf("acme"), "t1", operation, signal)) {
    expect(event).toEqual(data);
    break;
  }
  expect(requests.at(-1)?.url).toContain("/compute-targets/t1/commands/c1/cancel");
});
