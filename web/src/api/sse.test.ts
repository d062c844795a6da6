import { describe, expect, test, vi } from "vitest";

import { EventParser, readEvents, type ServerEvent } from "./sse";

function parse(...chunks: string[]): ServerEvent[] {
  const parser = new EventParser();
  return chunks.flatMap((chunk) => [...parser.feed(chunk)]);
}

describe("EventParser", () => {
  test("reads id, type and data", () => {
    expect(parse("id: 7\nevent: note\ndata: hello\n\n")).toEqual([
      { id: "7", type: "note", data: "hello" },
    ]);
  });

  test("joins data lines and strips one space only", () => {
    expect(parse("data:a\ndata:  b\n\n")[0]?.data).toBe("a\n b");
  });

  test("ignores comments, unknown fields and events without data", () => {
    expect(parse(": keepalive\n\nid: 1\n\nretry: 5\nfoo\n\ndata: x\n\n")).toEqual([
      { id: "1", type: "message", data: "x" },
    ]);
  });

  test("id persists until the next id, type applies to one event", () => {
    const events = parse("id: 1\nevent: a\ndata: x\n\ndata: y\n\n");
    expect(events[1]).toEqual({ id: "1", type: "message", data: "y" });
  });

  test.each([["\n"], ["\r"], ["\r\n"]])(
    "accepts %j as a line break at any chunk boundary",
    (eol) => {
      const text = ["id: 1", "data: one", "data: two", "", "data: three", "", ""].join(eol);
      const whole = parse(text, "\n");
      expect(whole.map(({ data }) => data)).toEqual(["one\ntwo", "three"]);
      for (let at = 1; at < text.length; at++) {
        expect(parse(text.slice(0, at), text.slice(at), "\n")).toEqual(whole);
      }
    },
  );

  test("does not yield an incomplete event", () => {
    expect(parse("data: half")).toEqual([]);
  });
});

test("character that is split across chunks is decoded", async () => {
  const bytes = new TextEncoder().encode("data: grüße ✓\n\n");
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  expect(events.map(({ data }) => data)).toEqual(["grüße ✓"]);
});

test("stream is lost after 25 seconds without a byte, and comments keep it", async () => {
  vi.useFakeTimers();
  let send: (text: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const lost = vi.fn();
  const reading = readEvents(body).next().catch(lost);
  await vi.advanceTimersByTimeAsync(20_000);
  send(": keepalive\n\n");
  await vi.advanceTimersByTimeAsync(24_900);
  expect(lost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(100);
  expect(lost).toHaveBeenCalledOnce();
  await reading;
  vi.useRealTimers();
});
