/** Parses the events of a loop's stream. */
import type { LoopEvent } from "@/api/types";

/** Message of a stream: an event, the failure to read the events, or neither. */
export type Message = LoopEvent | "replay failed" | undefined;

export function parseMessage(data: string): Message {
  try {
    const value: unknown = JSON.parse(data);
    if (isEvent(value)) return value;
    return isReplayFailure(value) ? "replay failed" : undefined;
  } catch {
    return undefined;
  }
}

const isEvent = (value: unknown): value is LoopEvent =>
  typeof value === "object" &&
  value !== null &&
  "type" in value &&
  typeof value.type === "string" &&
  "sequence" in value &&
  typeof value.sequence === "number";

const isReplayFailure = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "code" in value && value.code === "replay_failed";

/** Returns whether an event is the last one of a loop. */
export const isTerminalEvent = ({ type }: LoopEvent): boolean =>
  type === "completed" || type === "error" || type === "cancelled";
