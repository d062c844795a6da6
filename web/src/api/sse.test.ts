import { expect, test, vi } from "vitest";

import { readEvents, type ServerEvent } from "./sse";

async function read(...chunks: string[]): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

test("events are complete, and comments are skipped", async () => {
  expect(await read(": keepalive\n\nid: 7\ndata: a\nda", "ta: b\n\ndata: half")).toEqual([
    { id: "7", data: "a\nb" },
  ]);
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
