/** Tokens and cost of a loop: in total, by model, by assistant run and by turn. */
import type { AssistantRun, LoopDetail, LoopEvent, Turn } from "@/api/types";
import { Store } from "@/model/store";

export interface Tokens {
  input: number;
  output: number;
  cacheCreation?: number;
  cacheRead?: number;
}

export interface ModelSpend extends Tokens {
  model: string;
  costUsd?: number;
}

/** Returns the models that a loop used, the most expensive first. */
export function modelsOf(loop: Pick<LoopDetail, "metadata" | "tokensByModel">): ModelSpend[] {
  const { cost } = loop.metadata as { cost?: { byModel?: Record<string, number> } };
  const prices = cost?.byModel ?? {};
  return Object.entries((loop.tokensByModel ?? {}) as Record<string, Partial<Tokens>>)
    .map(([model, tokens]) => ({
      model,
      input: 0,
      output: 0,
      ...tokens,
      ...(prices[model] !== undefined && { costUsd: prices[model] }),
    }))
    .sort((one, other) => (other.costUsd ?? 0) - (one.costUsd ?? 0) || sum(other) - sum(one));
}

const sum = ({ input, output, cacheCreation = 0, cacheRead = 0 }: Tokens): number =>
  input + output + cacheCreation + cacheRead;

/** Maximum number of turns, and of runs, to keep: the tables render all of them. */
export const MAX_ITEMS = 200;

/** Turns and runs from the events of a loop, as an external store for React. */
export class SpendStore extends Store<SpendSnapshot> {
  constructor() {
    super({ turns: [], runs: [] });
  }

  /** Applies the turns and runs of an event. Replayed events change nothing. */
  apply(event: LoopEvent): void {
    if (event.type !== "usage" && event.type !== "output") return;
    const { turns, runs } = this.snapshot();
    const next = {
      turns: appendNew(turns, event.turns, (turn) => turn.turn),
      runs: appendNew(runs, event.runs, (run) => run.run),
    };
    if (next.turns === turns && next.runs === runs) return;
    this.set(next);
  }
}

export interface SpendSnapshot {
  turns: readonly Turn[];
  runs: readonly AssistantRun[];
}

/** Returns what an earlier and a later part of a loop's events report. */
export function mergeSpend(earlier: readonly LoopEvent[], later: SpendSnapshot): SpendSnapshot {
  const store = new SpendStore();
  for (const event of earlier) store.apply(event);
  const { turns, runs } = store.snapshot();
  return {
    turns: appendNew(turns, later.turns, (turn) => turn.turn),
    runs: appendNew(runs, later.runs, (run) => run.run),
  };
}

function appendNew<T>(
  known: readonly T[],
  fresh: readonly T[] | undefined,
  number: (item: T) => number,
): readonly T[] {
  if (fresh === undefined) return known;
  // Numbers increase: items up to the latest number are replays after a reconnect.
  const last = known.at(-1);
  const newest = last === undefined ? 0 : number(last);
  const more = fresh.filter((item) => number(item) > newest);
  return more.length === 0 ? known : [...known, ...more].slice(-MAX_ITEMS);
}
