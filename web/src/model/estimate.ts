/** Estimate of the cost and duration of a loop from completed loops of the same repository. */
import type { Loop } from "@/api/types";
import { moneyOf } from "./cost";

export interface Estimate {
  median: number;
  least: number;
  most: number;
  /** Number of loops that it is derived from. */
  loops: number;
}

// A median of fewer values says little.
const MIN_LOOPS = 3;

/** Returns an estimate of the values. Undefined with fewer than three. */
export function estimateOf(values: number[]): Estimate | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, most] = [sorted.at(0), sorted.at(-1)];
  if (sorted.length < MIN_LOOPS || least === undefined || most === undefined) return undefined;
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  const median = middle.reduce((sum, value) => sum + value, 0) / middle.length;
  return { median, least, most, loops: sorted.length };
}

/** Returns the costs in US dollars of loops that have one. */
export const costsOf = (loops: Loop[]): number[] =>
  loops.flatMap((loop) => moneyOf(loop)?.usd ?? []);

/** Returns the durations in milliseconds. */
export const durationsOf = (loops: readonly Pick<Loop, "startedAt" | "completedAt">[]): number[] =>
  loops.flatMap(({ startedAt, completedAt }) =>
    startedAt && completedAt ? Date.parse(completedAt) - Date.parse(startedAt) : [],
  );

/** A loop, as far as it determines an estimate of its end. */
type Timed = Pick<Loop, "command" | "startedAt" | "completedAt">;

/**
 * Returns the milliseconds until the next of the running loops probably ends, from the median duration of earlier loops
 * with the same command. Undefined without an estimate for any of them. A loop that takes longer than usual is not
 * considered: nothing is known about its end.
 */
export function untilNextEnd(
  running: readonly Timed[],
  ended: readonly Timed[],
  now: number,
): number | undefined {
  const rest = running.flatMap(({ command, startedAt }) => {
    const similar = ended.filter((loop) => loop.command === command);
    const estimate = estimateOf(durationsOf(similar));
    if (!estimate || !startedAt) return [];
    const left = estimate.median - (now - Date.parse(startedAt));
    return left > 0 ? [left] : [];
  });
  return rest.length > 0 ? Math.min(...rest) : undefined;
}
