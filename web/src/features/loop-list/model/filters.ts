import type { LoopCommand, LoopStatus } from "@/api/types";
import { STATUSES } from "@/model/status";

/** Filters of the loops list. Part of the address, so that a filtered view can be shared. */
export interface LoopFilters {
  status?: LoopStatus[];
  command?: LoopCommand[];
  /** Text to search for. */
  text?: string;
}

// The control plane rejects longer texts.
const MAX_TEXT_CHARS = 200;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns the filters in the search parameters of an address. */
export function loopFilters(search: Record<string, unknown>): LoopFilters {
  const status = STATUSES.filter((name) => list(search.status).includes(name));
  // The server defines the commands.
  const command = list(search.command).filter(
    (name): name is LoopCommand => typeof name === "string",
  );
  // The router parses a text of digits as a number.
  const text = ["string", "number"].includes(typeof search.text) ? String(search.text) : "";
  return {
    ...(status.length > 0 && { status }),
    ...(command.length > 0 && { command }),
    ...(text.trim() !== "" && { text: text.slice(0, MAX_TEXT_CHARS) }),
  };
}
