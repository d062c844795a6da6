/** Reads server-sent events with an incremental parser of server-sent events (WHATWG HTML, section "Server-sent events"). */
import { reportResponse } from "./connection";

// The control plane sends a comment every 10 seconds: a connection that is silent for longer than this is lost.
const SILENCE_MS = 25_000;

export interface ServerEvent {
  /** Latest id of the stream, including that of this event. */
  id: string | undefined;
  type: string;
  data: string;
}

/** Yields complete events from chunks of text, and buffers an incomplete one. */
export class EventParser {
  #buffer = "";
  #data: string[] = [];
  #type = "";
  #id: string | undefined;

  *feed(chunk: string): Generator<ServerEvent> {
    const text = this.#buffer + chunk;
    // A carriage return at the end of a chunk may be the first half of CRLF.
    const usable = text.endsWith("\r") ? text.length - 1 : text.length;
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start, usable);
      if (end === -1) break;
      const event = this.#line(text.slice(start, end));
      if (event) yield event;
      start = text.startsWith("\r\n", end) ? end + 2 : end + 1;
    }
    this.#buffer = text.slice(start);
  }

  #line(line: string): ServerEvent | undefined {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) return undefined;
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatch(): ServerEvent | undefined {
    const data = this.#data.join("\n");
    const type = this.#type === "" ? "message" : this.#type;
    const empty = this.#data.length === 0;
    this.#data = [];
    this.#type = "";
    return empty ? undefined : { id: this.#id, type, data };
  }
}

function lineEnd(text: string, start: number, limit: number): number {
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
  }
  return -1;
}

/** Yields the events of a response body until it ends. Fails when no byte arrives for 25 seconds. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      reportResponse();
      yield* parser.feed(decoder.decode(value, { stream: true }));
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
