/**
 * Follows the events of one loop while a page shows it.
 *
 * Reads the end of the log, then the stream of the events after it. Reconnects with exponential backoff, and ends at the
 * terminal event. Owns what the page derives from events. The status of the loop comes from the API, not from here.
 */
import { whenResponding } from "@/api/connection";
import { ApiError } from "@/api/errors";
import { EventStream } from "@/api/event-stream";
import { reportSignedOut } from "@/api/query-client";
import { pause, retryDelay } from "@/api/retry-delay";

import type { LoopEvent, Progress } from "@/api/types";
import { Store } from "@/model/store";

import { LoopActivityStore } from "./activity";
import { type EventSource, EventWindowStore } from "./event-window";
import { isTerminalEvent, parseMessage } from "./events";
import { SpendStore } from "./spend";

export type StreamState = "connecting" | "live" | "reconnecting" | "ended" | "refused";

// Events are published in batches, so that a burst of events causes one render.
const FLUSH_MS = 50;
// Latest events, from which the current action is derived.
const RECENT_EVENTS = 200;

export interface LoopStreamOptions {
  source: EventSource;
  /** Returns whether the loop has a terminal status according to the page's data. */
  hasEnded: () => boolean;
  /** Called for events that change the status of the loop. */
  onStatusEvent: (event: LoopEvent) => void;
  onState: (state: StreamState) => void;
}

export class LoopStream {
  readonly window: EventWindowStore;
  readonly latest = new LatestStore();
  readonly spend = new SpendStore();
  readonly activity = new LoopActivityStore();
  readonly #events: EventStream;
  readonly #options: LoopStreamOptions;
  #abort = new AbortController();
  #failures = 0;
  #isOpen = false;
  #pending: LoopEvent[] = [];
  #flushTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(organization: string, loopId: string, options: LoopStreamOptions) {
    this.#options = options;
    this.window = new EventWindowStore(options.source);
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
      await this.#open();
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

  /** Reads the end of the log, unless an earlier connection has read it. */
  async #open(): Promise<void> {
    if (this.#isOpen) return;
    const tail = await this.window.open();
    this.#isOpen = true;
    const last = tail.at(-1);
    if (last) this.#events.resumeAfter(last.id);
    for (const event of tail) this.#apply(event);
    this.latest.append(tail);
  }

  /** Publishes the event with this data. Returns whether it is the terminal event. */
  #receive(data: string): boolean {
    // Reset per event, not per connection: a server that accepts and closes at once gets backoff.
    this.#failures = 0;
    const event = parseMessage(data);
    // Reports that the server could not read its history, not that the loop failed.
    if (event === "replay failed") return false;
    if (event === undefined) {
      this.window.skip();
      return false;
    }
    this.#pending.push(event);
    this.#apply(event);
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    const terminal = isTerminalEvent(event);
    if (terminal || event.type === "started") this.#options.onStatusEvent(event);
    return terminal;
  }

  #apply(event: LoopEvent): void {
    this.activity.apply(event);
    this.spend.apply(event);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    this.window.receive(pending);
    this.latest.append(pending);
  }
}

export interface Latest {
  /** The latest events, oldest first, whatever part of the log is displayed. */
  events: readonly LoopEvent[];
  progress: Progress | undefined;
}

/** The latest events of a loop, as an external store for React. */
export class LatestStore extends Store<Latest> {
  constructor() {
    super({ events: [], progress: undefined });
  }

  append(events: readonly LoopEvent[]): void {
    const progress = events.findLast((event) => event.type === "progress");
    const before = this.snapshot();
    this.set({
      events: [...before.events, ...events].slice(-RECENT_EVENTS),
      progress: progress ?? before.progress,
    });
  }
}
