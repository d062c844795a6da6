/** Activity of a loop, from its latest events: pending approval, queue position, or stall. */

/** Position in the queue of the desktop. */
export interface QueuePosition {
  /** Starts at 1. */
  place: number;
  /** Length of the queue. */
  waiting: number;
}

/** A pending approval, without which the loop does not start. */
export interface LoopApproval {
  id: string;
  /** Shell command with which the owner of the desktop approves the loop. */
  command: string;
  /** Expiration of the approval request, ISO 8601. */
  waitsUntil: string;
}

/** State of a loop that produces no output. */
export interface StallState {
  state: "working" | "waiting-for-model" | "waiting-for-limit" | "stuck";
  /** Time of the last activity, ISO 8601. */
  since?: string;
  /** Command line of the inactive process, if there is one. */
  command?: string;
  /** Time at which the usage limit of the assistant resets, ISO 8601. */
  until?: string;
}

export interface LoopActivity {
  approval?: LoopApproval;
  queue?: QueuePosition;
  stall?: StallState;
}

/** Keeps the latest activity of a loop as an external store for React. */
export class LoopActivityStore {
  #snapshot: LoopActivity = {};
  readonly #listeners = new Set<() => void>();

  /** Applies an event. Output without activity members changes nothing; any other event resets. */
  apply(event: { type: string; approval?: unknown; queue?: unknown; stall?: unknown }): void {
    const before = this.#snapshot;
    if (event.type === "started") this.#snapshot = {};
    else if (isObject(event.approval)) {
      this.#snapshot = { approval: event.approval as LoopApproval };
    } else if (isObject(event.queue)) this.#snapshot = { queue: event.queue as QueuePosition };
    else if (isObject(event.stall)) {
      this.#snapshot = { stall: event.stall as StallState };
    } else if (event.type !== "output") this.#snapshot = {};
    if (this.#snapshot !== before) for (const listener of this.#listeners) listener();
  }

  readonly snapshot = (): LoopActivity => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
