/** Activity of a loop, from its latest events: pending approval, queue position, or stall. */

import type { LoopEvent } from "@/api/types";

type Body<Type extends LoopEvent["type"]> = Extract<LoopEvent, { type: Type }>;

export interface LoopActivity {
  /** A pending approval, without which the loop does not start. */
  approval?: Body<"approval">["approval"];
  /** Position in the queue of the desktop. */
  queue?: Body<"queue">["queue"];
  /** State of a loop that produces no output. */
  stall?: Body<"stall">["stall"];
}

/** Keeps the latest activity of a loop as an external store for React. */
export class LoopActivityStore {
  #snapshot: LoopActivity = {};
  readonly #listeners = new Set<() => void>();

  /** Applies an event. Output of the assistant changes nothing; an event of the loop's start or end resets. */
  apply(event: LoopEvent): void {
    const next = after(event);
    if (next === undefined) return;
    this.#snapshot = next;
    for (const listener of this.#listeners) listener();
  }

  readonly snapshot = (): LoopActivity => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

function after(event: LoopEvent): LoopActivity | undefined {
  switch (event.type) {
    case "approval":
      return { approval: event.approval };
    case "queue":
      return { queue: event.queue };
    case "stall":
      return { stall: event.stall };
    case "started":
    case "completed":
    case "error":
    case "cancelled":
      return {};
    default:
      return undefined;
  }
}
