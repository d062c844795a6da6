import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { setSessionKey } from "@/api/session-key";

import { LoopStream, retryDelay, type StreamState } from "./loop-stream";

/** Answers of the server, one a connection; the test says when each ends. */
class Server {
  readonly requests: Headers[] = [];
  #answers: Response[] = [];

  readonly fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
    this.requests.push(new Headers(init?.headers));
    const answer = this.#answers.shift();
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError("connection refused"));
  };

  says(...events: object[]): this {
    const text = events
      .map(
        (event, index) =>
          `id: ${this.#answers.length}-${index}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      .join("");
    this.#answers.push(new Response(`: keepalive\n\n${text}`));
    return this;
  }

  refuses(status: number): this {
    this.#answers.push(new Response("no", { status }));
    return this;
  }
}

function open(server: Server, ended = false) {
  vi.stubGlobal("fetch", server.fetch);
  const states: StreamState[] = [];
  const statusEvents: string[] = [];
  const stream = new LoopStream("a/b", {
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

const settle = () => vi.advanceTimersByTimeAsync(60);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("shows what it hears and ends with the loop", async () => {
  const server = new Server().says(
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

test("brings the page's key, without which the cookie is worth nothing", async () => {
  setSessionKey("k1");
  const server = new Server().says({ type: "completed" });
  open(server);
  await settle();
  setSessionKey(undefined);
  expect(server.requests[0]?.get("X-Session-Key")).toBe("k1");
});

test("resumes after a broken connection where it stopped, without repeating a line", async () => {
  const server = new Server()
    .says({ type: "output", chunk: "one" }, { type: "output", chunk: "two" })
    .says({ type: "output", chunk: "three" }, { type: "completed" });
  const { texts, states } = open(server);
  await settle();
  expect(states).toEqual(["connecting", "live", "reconnecting"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await settle();
  expect(server.requests.map((headers) => headers.get("Last-Event-ID"))).toEqual([null, "0-1"]);
  expect(texts()).toEqual(["one", "two", "three", "Completed"]);
  expect(states.at(-1)).toBe("ended");
});

test("a failed replay is no end of the loop", async () => {
  const server = new Server().says({ type: "error", code: "replay_failed", message: "x" });
  const { texts, states } = open(server);
  await settle();
  expect(texts()).toEqual([]);
  expect(states.at(-1)).toBe("reconnecting");
});

test("the history of an ended loop is read once", async () => {
  const server = new Server().says({ type: "output", chunk: "old" });
  const { states } = open(server, true);
  await settle();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("ended");
  expect(server.requests).toHaveLength(1);
});

test.each([401, 403, 404])("a refusal with %i is final", async (status) => {
  const server = new Server().refuses(status);
  const { states } = open(server);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("refused");
  expect(server.requests).toHaveLength(1);
});

test("waits longer after each failure, and stops when the page goes", async () => {
  const server = new Server();
  const { stream } = open(server);
  await vi.advanceTimersByTimeAsync(13_999);
  // At once, after 2 s, after 4 s more; the fourth would come 8 s later.
  expect(server.requests).toHaveLength(3);
  stream.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(server.requests).toHaveLength(3);
});

test("waits never pass half a minute", () => {
  expect([0, 1, 2, 3, 4, 20].map(retryDelay)).toEqual([
    2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
});

test("broken and foreign data is passed over", async () => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(new Response('data: {half\n\ndata: 5\n\ndata: {"type":"completed"}\n\n')),
  );
  const stream = new LoopStream("x", {
    hasEnded: () => false,
    onState: () => undefined,
    onStatusEvent: () => undefined,
  });
  stream.start();
  await settle();
  expect(stream.lines.snapshot().lines.map(({ text }) => text)).toEqual(["Completed"]);
});
