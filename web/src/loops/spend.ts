/** What a loop has used: money and tokens, of the whole loop, of each model, of each run and turn. */
import type { Loop } from "@/api/types";

export interface Tokens {
  input: number;
  output: number;
  cacheCreation: number;
  cacheRead: number;
}

/** One answer of a model. */
export interface Turn extends Tokens {
  turn: number;
  model: string;
}

/** One go of the assistant, from its start to its result. */
export interface Run extends Tokens {
  run: number;
  turns: number;
  costUsd?: number;
}

export interface ModelSpend extends Tokens {
  model: string;
  costUsd?: number;
}

export interface Money {
  usd: number;
  /** Where the figure comes from, for people. */
  source: string;
}

type Priced = Pick<Loop, "estimatedCost" | "metadata" | "tokensByModel">;

/** What the assistant says it cost, else what its tokens cost by list price. */
export function moneyOf(loop: Priced): Money | undefined {
  const reported = reportedCost(loop);
  const account = (loop.metadata as { apiKeySource?: unknown }).apiKeySource;
  if (reported && reported.totalUsd > 0) {
    return {
      usd: reported.totalUsd,
      source:
        account === "none"
          ? "List price, as the assistant reports it; the account is a subscription"
          : "As the assistant reports it",
    };
  }
  return loop.estimatedCost != null && loop.estimatedCost > 0
    ? { usd: loop.estimatedCost, source: "Estimated from the tokens, by list price" }
    : undefined;
}

/** The models that a loop used, the most expensive first. */
export function modelsOf(loop: Priced): ModelSpend[] {
  const prices = reportedCost(loop)?.byModel ?? {};
  return Object.entries((loop.tokensByModel ?? {}) as Record<string, Partial<Tokens>>)
    .map(([model, tokens]) => ({
      model,
      ...whole(tokens),
      ...(prices[model] !== undefined && { costUsd: prices[model] }),
    }))
    .sort((one, other) => (other.costUsd ?? 0) - (one.costUsd ?? 0) || sum(other) - sum(one));
}

export const sum = (tokens: Tokens): number =>
  tokens.input + tokens.output + tokens.cacheCreation + tokens.cacheRead;

function whole({
  input = 0,
  output = 0,
  cacheCreation = 0,
  cacheRead = 0,
}: Partial<Tokens>): Tokens {
  return { input, output, cacheCreation, cacheRead };
}

function reportedCost(
  loop: Priced,
): { totalUsd: number; byModel?: Record<string, number> } | undefined {
  const { cost } = loop.metadata as { cost?: { totalUsd?: unknown; byModel?: unknown } };
  return typeof cost?.totalUsd === "number"
    ? { totalUsd: cost.totalUsd, byModel: (cost.byModel ?? {}) as Record<string, number> }
    : undefined;
}

/** Limit of the turns and runs that are shown. */
export const KEPT = 200;

/** Turns and runs as the events of a loop bring them, each once. */
export class SpendStore {
  #snapshot: SpendSnapshot = { turns: [], runs: [] };
  readonly #listeners = new Set<() => void>();

  /** Takes what an event carries; an event that comes again changes nothing. */
  take(event: { turns?: unknown; runs?: unknown }): void {
    const { turns, runs } = this.#snapshot;
    const next = {
      turns: added(turns, event.turns as Turn[] | undefined, (turn) => turn.turn),
      runs: added(runs, event.runs as Run[] | undefined, (run) => run.run),
    };
    if (next.turns === turns && next.runs === runs) return;
    this.#snapshot = next;
    for (const listener of this.#listeners) listener();
  }

  readonly snapshot = (): SpendSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export interface SpendSnapshot {
  turns: readonly Turn[];
  runs: readonly Run[];
}

function added<T>(known: readonly T[], fresh: unknown, number: (item: T) => number): readonly T[] {
  if (!Array.isArray(fresh)) return known;
  const last = known.at(-1);
  const newest = last === undefined ? 0 : number(last);
  const more = (fresh as T[]).filter((item) => number(item) > newest);
  return more.length === 0 ? known : [...known, ...more].slice(-KEPT);
}
