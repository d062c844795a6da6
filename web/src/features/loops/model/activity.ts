/** Activity of a loop, from its latest events: pending approval, queue position, or stall. */

import type { LoopEvent } from "@/api/types";
import { Store } from "@/model/store";

type Body<Type extends LoopEvent["type"]> = Extract<LoopEvent, { type: Type }>;

export interface LoopActivity {
  /** A pending approval, without which the loop does not start. */
  approval?: Body<"approval">["approval"];
  /** Position in the queue of the desktop. */
  queue?: Body<"queue">["queue"];
  /** State of a loop that produces no output. */
  stall?: Body<"stall">["stall"];
}

/** Keeps the latest activity of a loop. */
export class LoopActivityStore extends Store<LoopActivity> {
  constructor() {
    super({});
  }

  /** Applies an event. Output of the assistant changes nothing; an event of the loop's start or end resets. */
  apply(event: LoopEvent): void {
    const next = after(event);
    if (next !== undefined) this.set(next);
  }
}

function after(event: LoopEvent): LoopActivity | undefined {
  switch (event.type) {
    case "approval":
      return { approval: event.approval };
    case "queue":
      return { queue: event.queue };
    case "stall":
      return { stall: event.stall };
    case "approval_decision":
    case "started":
    case "completed":
    case "error":
    case "cancelled":
      return {};
    default:
      return undefined;
  }
}
