import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { setSessionKey } from "@/api/session-key";

import { LoopStream, retryDelay, type StreamState } from "./loop-stream";

/** A server with one prepared response per connection. Without one, it responds with status 503. */
class Server {
  readonly requests: Headers[] = [];
  #responses: Response[] = [];

  readonly fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
    this.requests.push(new Headers(init?.headers));
    const response = this.#responses.shift() ?? new Response("no", { status: 503 });
    return Promise.resolve(response);
  };

  respondWith(...events: object[]): this {
    const text = events
      .map(
        (event, index) =>
          `id: ${this.#responses.length}-${index}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      .join("");
    this.#responses.push(new Response(`: keepalive\n\n${text}`));
    return this;
  }

  failWith(status: number): this {
    this.#responses.push(new Response("no", { status }));
    return this;
  }
}

function open(server: Server, ended = false) {
  vi.stubGlobal("fetch", server.fetch);
  const states: StreamState[] = [];
  const statusEvents: string[] = [];
  const stream = new LoopStream("acme", "a/b", {
    hasEnded: () => ended,
    onState: (state) => states.push(state),
    onStatusEvent: ({ type }) => statusEvents.push(type),
  });
  stream.start();
  return {
    stream,
    states,
    statusEvents,
    texts: () => stream.lines.snapshot().lines.map(({ text }) => text),
  };
}

// Longer than the flush interval of 50 ms, so that pending lines are published.
const settle = () => vi.advanceTimersByTimeAsync(60);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("shows events and ends with the terminal event", async () => {
  const server = new Server().respondWith(
    { type: "started" },
    { type: "output", chunk: "hi" },
    { type: "completed" },
  );
  const { texts, states, statusEvents } = open(server);
  await settle();
  expect(texts()).toEqual(["Started", "hi", "Completed"]);
  expect(states).toEqual(["connecting", "live", "ended"]);
  expect(statusEvents).toEqual(["started", "completed"]);
});

test("sends the session key, which the cookie requires", async () => {
  setSessionKey("k1");
  const server = new Server().respondWith({ type: "completed" });
  open(server);
  await settle();
  setSessionKey(undefined);
  expect(server.requests[0]?.get("X-Session-Key")).toBe("k1");
});

test("resumes after the last event when the connection is lost", async () => {
  const server = new Server()
    .respondWith({ type: "output", chunk: "one" }, { type: "output", chunk: "two" })
    .respondWith({ type: "output", chunk: "three" }, { type: "completed" });
  const { texts, states } = open(server);
  await settle();
  expect(states).toEqual(["connecting", "live", "reconnecting"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await settle();
  expect(server.requests.map((headers) => headers.get("Last-Event-ID"))).toEqual([null, "0-1"]);
  expect(texts()).toEqual(["one", "two", "three", "Completed"]);
  expect(states.at(-1)).toBe("ended");
});

test("failed replay is not a terminal event", async () => {
  const server = new Server().respondWith({ type: "error", code: "replay_failed", message: "x" });
  const { texts, states } = open(server);
  await settle();
  expect(texts()).toEqual([]);
  expect(states.at(-1)).toBe("reconnecting");
});

test("history of a finished loop is read once", async () => {
  const server = new Server().respondWith({ type: "output", chunk: "old" });
  const { states } = open(server, true);
  await settle();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("ended");
  expect(server.requests).toHaveLength(1);
});

test.each([401, 403, 404])("is not retried after status %i", async (status) => {
  const server = new Server().failWith(status);
  const { states } = open(server);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("refused");
  expect(server.requests).toHaveLength(1);
});

test("retries with exponential backoff until stopped", async () => {
  const server = new Server();
  const { stream } = open(server);
  await vi.advanceTimersByTimeAsync(13_999);
  // Attempts start at 0 s, 2 s and 6 s. The fourth would start at 14 s.
  expect(server.requests).toHaveLength(3);
  stream.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(server.requests).toHaveLength(3);
});

test("waits while the server is down, then resumes after the last event", async () => {
  const server = new Server()
    .respondWith({ type: "output", chunk: "one" })
    .respondWith({ type: "completed" });
  const { texts, states } = open(server);
  await settle();
  let isDown = true;
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    if (isDown) return Promise.reject(new TypeError("connection refused"));
    return path === "/health" ? Promise.resolve(new Response("OK")) : server.fetch(path, init);
  });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(states.at(-1)).toBe("reconnecting");
  isDown = false;
  await vi.advanceTimersByTimeAsync(5_000);
  await settle();
  expect(server.requests[1]?.get("Last-Event-ID")).toBe("0-0");
  expect(texts()).toEqual(["one", "Completed"]);
});

test("backoff is at most 30 seconds", () => {
  expect([0, 1, 2, 3, 4, 20].map(retryDelay)).toEqual([
    2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
});

test("malformed events are ignored", async () => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(new Response('data: {half\n\ndata: 5\n\ndata: {"type":"completed"}\n\n')),
  );
  const stream = new LoopStream("acme", "x", {
    hasEnded: () => false,
    onState: () => undefined,
    onStatusEvent: () => undefined,
  });
  stream.start();
  await settle();
  expect(stream.lines.snapshot().lines.map(({ text }) => text)).toEqual(["Completed"]);
});
