/** Reads server-sent events from the body of a response. */
import { createParser } from "eventsource-parser";

import { reportResponse } from "./connection";

// The control plane sends a comment every 10 seconds: a connection that is silent for longer than this is lost.
const SILENCE_MS = 25_000;

export interface ServerEvent {
  /** `undefined` for an event without an id. */
  id: string | undefined;
  data: string;
}

/** Yields the events of a response body until it ends. Fails when no byte arrives for 25 seconds. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const received: ServerEvent[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => received.push({ id, data }) });
  try {
    for (;;) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      reportResponse();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    // Closes the connection when the caller stops early. Fails if the connection is already lost.
    await reader.cancel().catch(() => undefined);
  }
}

function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>) {
  return new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The stream is silent.")), SILENCE_MS);
    reader
      .read()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
