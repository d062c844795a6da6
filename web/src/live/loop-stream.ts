/**
 * Follows the events of one loop for as long as a page shows it.
 *
 * Resumes where it broke off, waits longer after each failure, and ends with the loop. It owns the
 * connection and the lines; it never decides what the loop's status is.
 */
import { requestHeaders } from "@/api/client";

import { SpendStore } from "@/loops/spend";

import { isTerminalEvent, LineStore, linesOf, type StoredEvent } from "./output-lines";
import { readEvents } from "./sse";
import { LoopActivityStore } from "./activity";

export type StreamState = "connecting" | "live" | "reconnecting" | "ended" | "refused";

/** First wait after a failure; doubles with each further one. */
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;
/** Lines are shown in batches, so that a burst costs one render. */
const FLUSH_MS = 50;

export interface LoopStreamOptions {
  /** Whether the loop has ended, as far as the page knows. */
  hasEnded: () => boolean;
  /** Called when an event changes the loop's status. */
  onStatusEvent: (event: StoredEvent) => void;
  onState: (state: StreamState) => void;
}

export class LoopStream {
  readonly lines = new LineStore();
  readonly spend = new SpendStore();
  readonly activity = new LoopActivityStore();
  readonly #url: string;
  readonly #options: LoopStreamOptions;
  #abort = new AbortController();
  #lastEventId: string | undefined;
  #failures = 0;
  #pending: Parameters<LineStore["append"]>[0] = [];
  #flushTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(loopId: string, options: LoopStreamOptions) {
    this.#url = `/loops/${encodeURIComponent(loopId)}/stream`;
    this.#options = options;
  }

  start(): void {
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
      const outcome = await this.#connect(signal).catch(() => "broken" as const);
      if (stopped()) return;
      this.#flush();
      if (outcome === "ended" || outcome === "refused") {
        this.#options.onState(outcome);
        return;
      }
      this.#options.onState("reconnecting");
      await pause(retryDelay(this.#failures++), signal);
    }
  }

  /** One connection from beginning to end. */
  async #connect(signal: AbortSignal): Promise<"ended" | "refused" | "broken"> {
    const response = await fetch(this.#url, {
      headers: {
        Accept: "text/event-stream",
        ...requestHeaders(),
        ...(this.#lastEventId !== undefined && { "Last-Event-ID": this.#lastEventId }),
      },
      credentials: "same-origin",
      cache: "no-store",
      signal,
    });
    if ([400, 401, 403, 404].includes(response.status)) return "refused";
    if (!response.ok || response.body === null) return "broken";
    this.#options.onState("live");
    for await (const { id, data } of readEvents(response.body)) {
      this.#failures = 0;
      const event = parse(data);
      if (event && this.#take(event)) return "ended";
      if (id !== undefined) this.#lastEventId = id;
    }
    return this.#options.hasEnded() ? "ended" : "broken";
  }

  /** Shows an event; says whether it was the last one. */
  #take(event: StoredEvent): boolean {
    if (event.type === "error" && event.code === "replay_failed") return false;
    this.#pending.push(...linesOf(event));
    // Events stored by earlier versions call it `stillness`.
    const { type, approval, queue, stall = event.stillness } = event;
    this.activity.take({ type, approval, queue, stall });
    this.spend.take({ turns: event.turns, runs: event.runs });
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
