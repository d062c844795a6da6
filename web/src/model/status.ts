/** Display of loop statuses: label, tone, and whether the loop is active. */
import type { LoopStatus } from "@/api/types";

export type Tone = "ok" | "run" | "warn" | "bad" | "idle";

interface StatusFacts {
  label: string;
  tone: Tone;
  active: boolean;
}

const FACTS: Record<LoopStatus, StatusFacts> = {
  PENDING: { label: "Queued", tone: "idle", active: true },
  CLAIMED: { label: "Accepted", tone: "run", active: true },
  RUNNING: { label: "Running", tone: "run", active: true },
  COMPLETED: { label: "Completed", tone: "ok", active: false },
  FAILED: { label: "Failed", tone: "bad", active: false },
  CANCELLED: { label: "Cancelled", tone: "idle", active: false },
  TIMED_OUT: { label: "Timed out", tone: "warn", active: false },
  AWAITING_USER: { label: "Needs input", tone: "warn", active: false },
};

export const STATUSES = Object.keys(FACTS) as LoopStatus[];

export function statusFacts(status: LoopStatus): StatusFacts {
  // A newer server may know a status that this page does not.
  return (
    (FACTS as Partial<Record<string, StatusFacts>>)[status] ?? {
      label: humanise(status),
      tone: "idle",
      active: false,
    }
  );
}

/** Returns whether the status is not terminal, so that it changes without user action. */
export function isActive(status: LoopStatus): boolean {
  return statusFacts(status).active;
}

/** Returns whether a loop has not started yet, so that it may have no worktree. */
export function isWaiting(status: LoopStatus): boolean {
  return status === "PENDING" || status === "CLAIMED";
}

/** Converts `FOO_BAR` to `Foo bar`. */
export function humanise(code: string): string {
  const words = code.toLowerCase().split("_").filter(Boolean).join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
