/**
 * Follows the event stream of one loop while a page shows it.
 *
 * Reconnects with exponential backoff, and ends at the terminal event. Owns the output lines. The status of the loop comes from the API, not from here.
 */
import { whenResponding } from "@/api/connection";
import { ApiError } from "@/api/errors";
import { EventStream } from "@/api/event-stream";
import { reportSignedOut } from "@/api/query-client";

import { LoopActivityStore } from "./activity";
import { isTerminalEvent, LineStore, linesOf, type StoredEvent } from "./output-lines";
import { SpendStore } from "./spend";

export type StreamState = "connecting" | "live" | "reconnecting" | "ended" | "refused";

// Backoff after the first failure. Doubles with each consecutive failure, up to MAX_RETRY_MS.
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;
// Lines are published in batches, so that a burst of events causes one render.
const FLUSH_MS = 50;

export interface LoopStreamOptions {
  /** Returns whether the loop has a terminal status according to the page's data. */
  hasEnded: () => boolean;
  /** Called for events that change the status of the loop. */
  onStatusEvent: (event: StoredEvent) => void;
  onState: (state: StreamState) => void;
}

export class LoopStream {
  readonly lines = new LineStore();
  readonly spend = new SpendStore();
  readonly activity = new LoopActivityStore();
  readonly #events: EventStream;
  readonly #options: LoopStreamOptions;
  #abort = new AbortController();
  #failures = 0;
  #pending: Parameters<LineStore["append"]>[0] = [];
  #flushTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(organization: string, loopId: string, options: LoopStreamOptions) {
    this.#options = options;
    this.#events = new EventStream({
      path: `/loops/${encodeURIComponent(loopId)}/stream`,
      organization,
      onOpen: () => options.onState("live"),
      onEvent: ({ data }) => this.#receive(data),
    });
  }

  start(): void {
    // React's strict mode stops and starts an effect again; an aborted controller cannot be reused.
    this.#abort = new AbortController();
    void this.#run(this.#abort.signal);
  }

  stop(): void {
    this.#abort.abort();
    clearTimeout(this.#flushTimer);
    this.#flush();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const stopped = () => signal.aborted;
    this.#options.onState("connecting");
    while (!stopped()) {
      const outcome = await this.#read(signal);
      if (stopped()) return;
      this.#flush();
      if (outcome !== "broken") {
        this.#options.onState(outcome);
        return;
      }
      this.#options.onState("reconnecting");
      await pause(retryDelay(this.#failures++), signal);
      await whenResponding();
    }
  }

  async #read(signal: AbortSignal): Promise<"ended" | "refused" | "broken"> {
    try {
      const isComplete = await this.#events.read(signal);
      // The server closes the stream of a finished loop after the replay, even without a terminal event.
      return isComplete || this.#options.hasEnded() ? "ended" : "broken";
    } catch (error) {
      reportSignedOut(error);
      // A retry would yield the same status. Others, such as 429 and 5xx, are temporary.
      const isFinal = error instanceof ApiError && [400, 401, 403, 404].includes(error.status);
      return isFinal ? "refused" : "broken";
    }
  }

  /** Publishes the event with this data. Returns whether it is the terminal event. */
  #receive(data: string): boolean {
    // Reset per event, not per connection: a server that accepts and closes at once gets backoff.
    this.#failures = 0;
    const event = parse(data);
    return event !== undefined && this.#publish(event);
  }

  #publish(event: StoredEvent): boolean {
    // Reports that the server could not read its history, not that the loop failed.
    if (event.type === "error" && event.code === "replay_failed") return false;
    this.#pending.push(...linesOf(event));
    // Events that earlier versions stored name this member `stillness`.
    const { type, approval, queue, stall = event.stillness } = event;
    this.activity.apply({ type, approval, queue, stall });
    this.spend.apply({ turns: event.turns, runs: event.runs });
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    const terminal = isTerminalEvent(event);
    if (terminal || event.type === "started") this.#options.onStatusEvent(event);
    return terminal;
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    this.lines.append(pending);
  }
}

export function retryDelay(failures: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
}

function parse(data: string): StoredEvent | undefined {
  try {
    const event: unknown = JSON.parse(data);
    return typeof event === "object" && event !== null && "type" in event
      ? (event as StoredEvent)
      : undefined;
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
