/** Tokens and cost of a loop: by model, by assistant run, by turn. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { useScope } from "@/api/scope";
import type { LoopDetail } from "@/api/types";
import { EmptyState } from "@/ui/panel";

import { moneyOf } from "@/model/cost";
import { exact, money } from "@/model/format";
import { mergeSpend, modelsOf, type SpendSnapshot, type Tokens } from "../model/spend";
import { usageQuery } from "../queries";

export function SpendView({ loop, spend }: { loop: LoopDetail; spend: SpendSnapshot }) {
  const models = modelsOf(loop);
  const total = moneyOf(loop);
  // The log opens with its end, which need not contain all reports.
  const { data: earlier = [] } = useQuery(usageQuery(useScope(), loop.id));
  const { runs, turns } = mergeSpend(earlier, spend);
  if (models.length === 0 && turns.length === 0) {
    return (
      <EmptyState title="No usage yet">
        Usage appears after the first response of a model.
      </EmptyState>
    );
  }
  return (
    <div className="space-y-7">
      {total && (
        <p className="text-ink-2">
          <span className="text-lg font-semibold text-ink tabular-nums">{money(total.usd)}</span>{" "}
          {total.source}.
        </p>
      )}
      {models.length > 0 && (
        <UsageTable title="By model" head={["Model", ...TOKENS, "Cost"]}>
          {models.map((model) => (
            <Row
              key={model.model}
              cells={[model.model, ...counts(model), costCell(model.costUsd)]}
            />
          ))}
        </UsageTable>
      )}
      {runs.length > 0 && (
        <UsageTable title="By assistant run" head={["Run", "Turns", ...TOKENS, "Cost"]}>
          {runs.map((run) => (
            <Row
              key={run.run}
              cells={[`#${run.run}`, exact(run.turns), ...counts(run), costCell(run.costUsd)]}
            />
          ))}
        </UsageTable>
      )}
      {turns.length > 0 && (
        <UsageTable title="By turn" head={["Turn", "Model", ...TOKENS]}>
          {turns.toReversed().map((turn) => (
            <Row key={turn.turn} cells={[`#${turn.turn}`, turn.model, ...counts(turn)]} />
          ))}
        </UsageTable>
      )}
    </div>
  );
}

const TOKENS = ["Input", "Output", "Cache written", "Cache read"];

const counts = (tokens: Tokens): string[] =>
  [tokens.input, tokens.output, tokens.cacheCreation ?? 0, tokens.cacheRead ?? 0].map(exact);

const costCell = (usd: number | null | undefined): string => (usd == null ? "–" : money(usd));

function UsageTable({
  title,
  head,
  children,
}: {
  title: string;
  head: string[];
  children: ReactNode;
}) {
  return (
    <section>
      <h2 className="mb-2 font-medium">{title}</h2>
      <div className="overflow-x-auto rounded-lg border border-line">
        <table aria-label={title} className="w-full text-sm">
          <thead className="bg-sunken text-xs text-ink-3">
            <tr>
              {head.map((name, at) => (
                <th key={name} scope="col" className={cell(at)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ cells }: { cells: string[] }) {
  return (
    <tr className="border-t border-line">
      {cells.map((text, at) => (
        <td key={at} className={cell(at)}>
          {text}
        </td>
      ))}
    </tr>
  );
}

const cell = (at: number): string =>
  at === 0
    ? "px-3 py-1.5 text-left font-medium whitespace-nowrap"
    : "px-3 py-1.5 text-right whitespace-nowrap tabular-nums";
