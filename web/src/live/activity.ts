/** State of a loop besides its status, from its newest events: held, queued, working, waiting, or stuck. */

/** Its place among the loops that wait on its desktop. */
export interface QueuePosition {
  /** From 1. */
  place: number;
  waiting: number;
}

/** The approval that it waits for. */
export interface LoopApproval {
  id: string;
  /** What the owner of its desktop types to approve it. */
  command: string;
  /** ISO time. */
  waitsUntil: string;
}

/** What a quiet loop is doing. */
export interface StallState {
  state: "working" | "waiting-for-model" | "waiting-for-limit" | "stuck";
  /** ISO time of its last sign of life. */
  since?: string;
  /** What runs and does nothing, when anything does. */
  command?: string;
  /** ISO time at which the limit of the assistant ends that it waits for. */
  until?: string;
}

export interface LoopActivity {
  approval?: LoopApproval;
  queue?: QueuePosition;
  stall?: StallState;
}

/** The newest event of each kind; the start of a loop ends its waiting. */
export class LoopActivityStore {
  #snapshot: LoopActivity = {};
  readonly #listeners = new Set<() => void>();

  take(event: { type: string; approval?: unknown; queue?: unknown; stall?: unknown }): void {
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
