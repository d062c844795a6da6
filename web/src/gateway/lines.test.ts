// @vitest-environment node
import { expect, test } from "vitest";

import { readLines } from "./lines";

const body = (...chunks: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      // One byte per chunk also separates the bytes of a character.
      for (const byte of chunks.flatMap((chunk) => [...encoder.encode(chunk)]))
        controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });

async function all(stream: ReadableStream<Uint8Array>) {
  const lines: unknown[] = [];
  for await (const line of readLines(stream)) lines.push(line);
  return lines;
}

test("objects are returned across the borders of chunks, also the last without a line break", async () => {
  expect(await all(body('{"a":"é"}\n\n{"b":', '2}\n{"c":3}'))).toEqual([
    { a: "é" },
    { b: 2 },
    { c: 3 },
  ]);
  expect(await all(body())).toEqual([]);
});

test("connection is closed when the caller stops", async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("{}\n")),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const line of readLines(stream)) {
    expect(line).toEqual({});
    break;
  }
  expect(isCancelled).toBe(true);
});
