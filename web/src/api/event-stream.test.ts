import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { EventStream } from "./event-stream";
import { setSessionKey } from "./session-key";

/** A stream of events with consecutive ids, which stays open. */
class Server {
  readonly #sent: string[] = [];
  readonly #open = new Set<(text: string) => void>();
  /** `Last-Event-ID` of each connection. */
  readonly requests: (string | null)[] = [];

  readonly fetch = (_: string, { headers, signal }: RequestInit): Promise<Response> => {
    const last = new Headers(headers).get("Last-Event-ID");
    this.requests.push(last);
    const encoder = new TextEncoder();
    let send: (text: string) => void;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (text) => controller.enqueue(encoder.encode(text));
        this.#sent.slice(Number(last ?? 0)).forEach(send);
        this.#open.add(send);
        signal?.addEventListener("abort", () => {
          this.#open.delete(send);
          controller.error(new DOMException("", "AbortError"));
        });
      },
      cancel: () => void this.#open.delete(send),
    });
    return Promise.resolve(new Response(body));
  };

  send(data: string): void {
    const text = `id: ${this.#sent.length + 1}\ndata: ${data}\n\n`;
    this.#sent.push(text);
    for (const send of this.#open) send(text);
  }

  get connections(): number {
    return this.#open.size;
  }
}

/** Exclusive locks in the order of the requests. */
class Locks {
  readonly #queues = new Map<string, Promise<unknown>>();

  async request(name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<unknown>) {
    const before = this.#queues.get(name) ?? Promise.resolve();
    let release: () => void = () => undefined;
    this.#queues.set(
      name,
      before.then(() => new Promise<void>((done) => (release = done))),
    );
    const aborted = new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
    try {
      await Promise.race([before, aborted]);
    } catch (error) {
      void before.then(() => setTimeout(() => release()));
      throw error;
    }
    return hold().finally(() => release());
  }
}

let server: Server;
const tabs: AbortController[] = [];

function openTab() {
  const texts: string[] = [];
  const stream = new EventStream({
    path: "/loops/1/stream",
    organization: "acme",
    onOpen: () => undefined,
    onEvent: ({ data }) => texts.push(data) > 0 && data === "last",
  });
  const tab = new AbortController();
  tabs.push(tab);
  const end = stream.read(tab.signal).catch(() => "aborted" as const);
  return { texts, end, close: () => tab.abort() };
}

beforeEach(() => {
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  Object.defineProperty(navigator, "locks", { value: new Locks(), configurable: true });
});
afterEach(() => {
  for (const tab of tabs.splice(0)) tab.abort();
  setSessionKey(undefined);
  Reflect.deleteProperty(navigator, "locks");
  vi.unstubAllGlobals();
});

test("tabs share one connection, and a later tab reads the history itself", async () => {
  const first = openTab();
  await vi.waitFor(() => expect(server.connections).toBe(1));
  server.send("one");
  server.send("two");
  await vi.waitFor(() => expect(first.texts).toEqual(["one", "two"]));
  const second = openTab();
  await vi.waitFor(() => expect(second.texts).toEqual(["one", "two"]));
  server.send("three");
  await vi.waitFor(() => expect(first.texts).toEqual(["one", "two", "three"]));
  await vi.waitFor(() => expect(second.texts).toEqual(["one", "two", "three"]));
  expect(server.requests).toEqual([null, null]);
});

test("next tab continues after the latest event when the reading tab is closed", async () => {
  const first = openTab();
  await vi.waitFor(() => expect(server.connections).toBe(1));
  const second = openTab();
  server.send("one");
  await vi.waitFor(() => expect(second.texts).toEqual(["one"]));
  first.close();
  await vi.waitFor(() => expect(server.requests.at(-1)).toBe("1"));
  server.send("two");
  server.send("last");
  expect(await second.end).toBe(true);
  expect(second.texts).toEqual(["one", "two", "last"]);
});

test("last event ends the stream in all tabs", async () => {
  const first = openTab();
  await vi.waitFor(() => expect(server.connections).toBe(1));
  const second = openTab();
  server.send("last");
  expect(await Promise.all([first.end, second.end])).toEqual([true, true]);
});

test("tab of another session has its own connection", async () => {
  setSessionKey("ada");
  openTab();
  await vi.waitFor(() => expect(server.connections).toBe(1));
  setSessionKey("ben");
  openTab();
  await vi.waitFor(() => expect(server.connections).toBe(2));
});

test("each tab has its own connection in a browser without Web Locks", async () => {
  Reflect.deleteProperty(navigator, "locks");
  openTab();
  openTab();
  await vi.waitFor(() => expect(server.connections).toBe(2));
});
