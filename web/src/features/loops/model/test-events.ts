/** Events for tests. */
import type { LoopEvent } from "@/api/types";

type Distribute<T> = T extends unknown ? Omit<T, "id" | "sequence" | "storedAt"> : never;
export type EventBody = Distribute<LoopEvent>;

/** Returns a stored event. The id is that of the server: ids are in ascending order. */
export const stored = (sequence: number, body: EventBody): LoopEvent =>
  ({
    id: `e${String(sequence).padStart(8, "0")}`,
    sequence,
    storedAt: `2030-01-01T00:00:${String(sequence % 60).padStart(2, "0")}Z`,
    ...body,
  }) as LoopEvent;

/** Returns stored events with the positions 1, 2, … */
export const log = (...bodies: EventBody[]): LoopEvent[] =>
  bodies.map((body, index) => stored(index + 1, body));
