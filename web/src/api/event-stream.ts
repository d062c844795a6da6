/** A resumable event stream of the control plane. */
import { requestHeaders } from "./client";
import { reportNoResponse } from "./connection";
import { ApiError } from "./errors";
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

export class EventStream {
  readonly #options: EventStreamOptions;
  #lastEventId: string | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /**
   * Reads the events that follow the latest one. Returns whether the last event of the stream was received; if not, the
   * server has closed the connection. Throws an ApiError for an error response, or when the connection is lost.
   */
  async read(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#connect(signal);
    } catch (error) {
      if (error instanceof ApiError || signal.aborted) throw error;
      void reportNoResponse();
      throw ApiError.unreachable(error);
    }
  }

  async #connect(signal: AbortSignal): Promise<boolean> {
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
    for await (const event of readEvents(response.body)) {
      if (this.#options.onEvent(event)) return true;
      this.#lastEventId = event.id ?? this.#lastEventId;
    }
    return false;
  }
}
