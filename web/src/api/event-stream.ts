/**
 * A resumable event stream of the control plane, which the tabs of a browser share.
 *
 * A browser opens at most six connections to a host, so a stream for each tab would block all requests of the seventh.
 * The tab that holds the Web Lock of a stream reads it, and broadcasts its events to the others. They wait for the lock,
 * and the next of them continues when the tab is closed.
 */
import { requestHeaders } from "./client";
import { reportNoResponse } from "./connection";
import { ApiError } from "./errors";
import { sessionKey } from "./session-key";
import { readEvents, type ServerEvent } from "./sse";

// Connecting takes no longer than any other request.
const CONNECT_TIMEOUT_MS = 10_000;

export interface EventStreamOptions {
  path: string;
  /** Slug of the organization whose stream it is. */
  organization: string;
  /** Called when events can be received. */
  onOpen: () => void;
  /** Returns whether the event is the last one of the stream. */
  onEvent: (event: ServerEvent) => boolean;
}

/** Requests the position of the tab that reads the stream. */
const JOIN = "join";

/** Sent by the tab that reads the stream: an event, or only its position. */
interface Broadcast {
  /** Id of the latest event before this one. */
  previous: string | undefined;
  event?: ServerEvent | undefined;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  // An event can arrive twice: from another tab, and on a connection of this tab.
  readonly #receivedIds = new Set<string>();
  #lastEventId: string | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Sets the id of the latest event that the page has. The ids of the server are in ascending order. */
  resumeAfter(id: string): void {
    this.#lastEventId = id;
  }

  /**
   * Reads the events that follow the latest one. Returns whether the last event of the stream was received; if not, the
   * server has closed the connection. Throws an ApiError for an error response, or when the connection is lost.
   */
  async read(signal: AbortSignal): Promise<boolean> {
    try {
      return await ("locks" in navigator && "BroadcastChannel" in window
        ? this.#share(signal)
        : this.#connect(signal, (event) => this.#deliver(event)));
    } catch (error) {
      if (error instanceof ApiError || signal.aborted) throw error;
      void reportNoResponse();
      throw ApiError.unreachable(error);
    }
  }

  async #share(signal: AbortSignal): Promise<boolean> {
    const { organization, path } = this.#options;
    // The session key identifies the person: another one must not receive the events.
    const name = JSON.stringify([sessionKey(), organization, path]);
    const channel = new BroadcastChannel(name);
    const waiting = new AbortController();
    const whileWaiting = AbortSignal.any([signal, waiting.signal]);
    let isComplete = false as boolean;
    let received = Promise.resolve();
    channel.onmessage = ({ data }: MessageEvent<Broadcast | typeof JOIN>) => {
      if (data === JOIN) return;
      received = received.then(async () => {
        if (whileWaiting.aborted) return;
        try {
          isComplete = await this.#receive(data, whileWaiting);
          if (isComplete) waiting.abort();
        } catch (error) {
          waiting.abort(error);
        }
      });
    };
    channel.postMessage(JOIN);
    try {
      return await navigator.locks.request(name, { signal: whileWaiting }, async () => {
        waiting.abort();
        await received;
        if (isComplete) return true;
        const send = (event?: ServerEvent) =>
          channel.postMessage({ previous: this.#lastEventId, event } satisfies Broadcast);
        channel.onmessage = ({ data }) => {
          if (data === JOIN) send();
        };
        send();
        return this.#connect(signal, (event) => {
          send(event);
          return this.#deliver(event);
        });
      });
    } catch (error) {
      if (isComplete) return true;
      throw error;
    } finally {
      channel.close();
    }
  }

  /** Receives a broadcast, after the events that this tab has missed. Returns whether the last event was received. */
  async #receive({ previous, event }: Broadcast, signal: AbortSignal): Promise<boolean> {
    let isComplete = false as boolean;
    const latest = this.#lastEventId ?? "";
    if (previous !== undefined && previous > latest && !this.#receivedIds.has(previous)) {
      await this.#connect(signal, (missed) => {
        isComplete = this.#deliver(missed);
        return isComplete || missed.id === previous;
      });
    }
    this.#options.onOpen();
    return isComplete || (event !== undefined && this.#deliver(event));
  }

  #deliver(event: ServerEvent): boolean {
    if (event.id !== undefined) {
      if (this.#receivedIds.has(event.id)) return false;
      this.#receivedIds.add(event.id);
      this.#lastEventId = event.id;
    }
    return this.#options.onEvent(event);
  }

  /** Reads a connection of this tab until `onEvent` returns true, or until the server closes it. */
  async #connect(signal: AbortSignal, onEvent: (event: ServerEvent) => boolean): Promise<boolean> {
    const { path, organization, onOpen } = this.#options;
    const connecting = new AbortController();
    const timer = setTimeout(() => connecting.abort(), CONNECT_TIMEOUT_MS);
    const response = await fetch(path, {
      headers: {
        Accept: "text/event-stream",
        ...requestHeaders(organization),
        ...(this.#lastEventId !== undefined && { "Last-Event-ID": this.#lastEventId }),
      },
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any([signal, connecting.signal]),
    }).finally(() => clearTimeout(timer));
    if (!response.ok || response.body === null) throw new ApiError(response.status, undefined);
    onOpen();
    for await (const event of readEvents(response.body)) if (onEvent(event)) return true;
    return false;
  }
}
