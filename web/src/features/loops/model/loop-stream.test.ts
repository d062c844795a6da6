import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { retryDelay } from "@/api/retry-delay";
import { setSessionKey } from "@/api/session-key";

import type { EventRange, LoopEvent } from "@/api/types";

import { logItems, textOf } from "./log-items";
import { LoopStream, type StreamState } from "./loop-stream";
import { type EventBody, log, stored } from "./test-events";

/** A server with one prepared response per connection. Without one, it responds with status 503. */
class Server {
  readonly requests: Headers[] = [];
  #responses: Response[] = [];
  #events: number;

  /** `tail` is the number of events before the first connection. */
  constructor(tail = 0) {
    this.#events = tail;
  }

  readonly fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
    this.requests.push(new Headers(init?.headers));
    const response = this.#responses.shift() ?? new Response("no", { status: 503 });
    return Promise.resolve(response);
  };

  respondWith(...bodies: EventBody[]): this {
    const messages = bodies.map((body) => {
      const event = stored(++this.#events, body);
      return `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;
    });
    return this.respondWithText(messages.join(""));
  }

  respondWithText(text: string): this {
    this.#responses.push(new Response(`: keepalive\n\n${text}`));
    return this;
  }

  failWith(status: number): this {
    this.#responses.push(new Response("no", { status }));
    return this;
  }
}

function open(server: Server, ended = false, tail: LoopEvent[] = []) {
  vi.stubGlobal("fetch", server.fetch);
  const range: EventRange = { events: tail, lastSequence: tail.length };
  const states: StreamState[] = [];
  const statusEvents: string[] = [];
  const stream = new LoopStream("acme", "a/b", {
    source: { before: () => Promise.resolve(range), after: () => Promise.resolve([]) },
    hasEnded: () => ended,
    onState: (state) => states.push(state),
    onStatusEvent: ({ type }) => statusEvents.push(type),
  });
  stream.start();
  return {
    stream,
    states,
    statusEvents,
    texts: () => logItems(stream.window.snapshot().events, false).map(textOf),
  };
}

const COMPLETED: EventBody = {
  type: "completed",
  result: {},
  tokensUsed: { input: 1, output: 1 },
};

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
    COMPLETED,
  );
  const { texts, states, statusEvents } = open(server);
  await settle();
  expect(texts()).toEqual(["Started", "hi", "Completed"]);
  expect(states).toEqual(["connecting", "live", "ended"]);
  expect(statusEvents).toEqual(["started", "completed"]);
});

test("sends the session key, which the cookie requires", async () => {
  setSessionKey("k1");
  const server = new Server().respondWith(COMPLETED);
  open(server);
  await settle();
  setSessionKey(undefined);
  expect(server.requests[0]?.get("X-Session-Key")).toBe("k1");
});

test("resumes after the last event when the connection is lost", async () => {
  const server = new Server()
    .respondWith({ type: "output", chunk: "one" }, { type: "output", chunk: "two" })
    .respondWith({ type: "output", chunk: "three" }, COMPLETED);
  const { texts, states } = open(server);
  await settle();
  expect(states).toEqual(["connecting", "live", "reconnecting"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await settle();
  expect(server.requests.map((headers) => headers.get("Last-Event-ID"))).toEqual([
    null,
    "e00000002",
  ]);
  expect(texts()).toEqual(["one", "two", "three", "Completed"]);
  expect(states.at(-1)).toBe("ended");
});

test("failed replay is not a terminal event", async () => {
  const failure = { type: "error", code: "replay_failed", message: "x" };
  const server = new Server().respondWithText(`data: ${JSON.stringify(failure)}\n\n`);
  const { stream, states } = open(server);
  await settle();
  expect(stream.window.snapshot()).toMatchObject({ events: [], unreadable: 0 });
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
  const server = new Server().respondWith({ type: "output", chunk: "one" }).respondWith(COMPLETED);
  const { texts, states } = open(server);
  await settle();
  let isDown = true;
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    if (isDown) return Promise.reject(new TypeError("connection refused"));
    // Probes are answered, too.
    return path.startsWith("/loops/") ? server.fetch(path, init) : Promise.resolve(new Response());
  });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(states.at(-1)).toBe("reconnecting");
  isDown = false;
  await vi.advanceTimersByTimeAsync(5_000);
  await settle();
  expect(server.requests[1]?.get("Last-Event-ID")).toBe("e00000001");
  expect(texts()).toEqual(["one", "Completed"]);
});

test("backoff is at most 30 seconds", () => {
  expect([0, 1, 2, 3, 4, 20].map(retryDelay)).toEqual([
    2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
});

test("malformed events are counted, and the others are shown", async () => {
  const server = new Server().respondWithText(
    `data: {half\n\ndata: 5\n\ndata: ${JSON.stringify(stored(1, COMPLETED))}\n\n`,
  );
  const { stream, texts, states } = open(server);
  await settle();
  expect(texts()).toEqual(["Completed"]);
  expect(stream.window.snapshot().unreadable).toBe(2);
  expect(states.at(-1)).toBe("ended");
});

test("stream continues after the end of the log, which is read once", async () => {
  const tail = log({ type: "started" }, { type: "output", chunk: "one", role: "note" });
  const server = new Server(2)
    .respondWith({ type: "output", chunk: "two", role: "note" })
    .respondWith(COMPLETED);
  const { texts, stream } = open(server, false, tail);
  await settle();
  await vi.advanceTimersByTimeAsync(2_000);
  await settle();
  expect(server.requests.map((headers) => headers.get("Last-Event-ID"))).toEqual([
    "e00000002",
    "e00000003",
  ]);
  expect(texts()).toEqual(["Started", "one", "two", "Completed"]);
  expect(stream.latest.snapshot().events).toHaveLength(4);
});
