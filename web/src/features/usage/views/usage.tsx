/** Tokens and cost of the organization's loops. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";

import { useScope } from "@/api/scope";
import type { Usage } from "@/api/types";
import { count, money } from "@/model/format";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Panel } from "@/ui/panel";
import { Section } from "@/ui/section";

import { type UsageSearch, usageSearch } from "../model/usage-search";
import { usageQuery } from "../queries";

const route = getRouteApi("/$orgSlug/settings/usage");

export function UsagePage() {
  const scope = useScope();
  usePageTitle("Usage");
  const navigate = route.useNavigate();
  const [days, setDays] = useState<UsageSearch>(route.useSearch());
  // Deferred, so that the report stays on the page until the next one is loaded.
  const { since = "", until = "" } = useDeferredValue(days);
  const { data: usage } = useSuspenseQuery(usageQuery(scope, since, until));
  const change = (changes: UsageSearch) => {
    const search = usageSearch({ ...days, ...changes });
    setDays(search);
    void navigate({ search, replace: true });
  };
  return (
    <Section
      title="Usage"
      about="Loops are counted on the day on which they were created, in UTC."
      action={
        <div className="flex flex-wrap gap-3">
          <DayField label="From" value={days.since ?? ""} onValue={(since) => change({ since })} />
          <DayField label="Until" value={days.until ?? ""} onValue={(until) => change({ until })} />
        </div>
      }
    >
      <UsageReport usage={usage} />
    </Section>
  );
}

function DayField({
  label,
  value,
  onValue,
}: {
  label: string;
  value: string;
  onValue: (day: string) => void;
}) {
  return (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type="date"
          value={value}
          onChange={(event) => onValue(event.target.value)}
          className={INPUT_CLASS}
        />
      )}
    </Field>
  );
}

function UsageReport({ usage }: { usage: Usage }) {
  const totals = [
    ["Loops", count(usage.totalLoops)],
    ["Cost", money(usage.totalEstimatedCost)],
    ["Input tokens", count(usage.totalTokensInput)],
    ["Output tokens", count(usage.totalTokensOutput)],
    ["Cache reads", count(usage.totalCacheReadTokens)],
    ["Cache writes", count(usage.totalCacheCreationTokens)],
  ];
  return (
    <>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        {totals.map(([label, value]) => (
          <div key={label} className="rounded-lg border border-line bg-surface px-4 py-3">
            <dt className="text-sm text-ink-3">{label}</dt>
            <dd className="mt-0.5 text-lg font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {usage.totalLoops === 0 && (
        <Panel>
          <EmptyState title="No loops in this period">
            The tokens and costs of loops appear here. Select an earlier start to see more.
          </EmptyState>
        </Panel>
      )}
      <UsageTable
        title="By command"
        rows={usage.byCommand.map((row) => ({ ...row, label: row.command }))}
      />
      <UsageTable
        title="By user"
        rows={usage.byUser.map((row) => ({ ...row, label: row.userName ?? row.userEmail }))}
      />
      <UsageTable title="By day" rows={usage.byDay.map((row) => ({ ...row, label: row.day }))} />
    </>
  );
}

interface UsageRow {
  label: string;
  loopCount: number;
  tokensInput: number;
  tokensOutput: number;
  estimatedCost: number;
}

function UsageTable({ title, rows }: { title: string; rows: UsageRow[] }) {
  if (rows.length === 0) return null;
  return (
    <Panel className="overflow-x-auto">
      <table className="w-full text-left tabular-nums">
        <caption className="px-4 pt-3 pb-1 text-left font-medium">{title}</caption>
        <thead className="text-sm text-ink-3">
          <tr>
            {["", "Loops", "Input", "Output", "Cost"].map((name, index) => (
              <th
                key={name}
                scope="col"
                className={`px-4 py-1.5 font-normal ${index > 0 ? "text-right" : ""}`}
              >
                {name || <span className="sr-only">Name</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.label}>
              <th scope="row" className="px-4 py-2 font-normal">
                <bdi>{row.label}</bdi>
              </th>
              <td className="px-4 py-2 text-right">{count(row.loopCount)}</td>
              <td className="px-4 py-2 text-right">{count(row.tokensInput)}</td>
              <td className="px-4 py-2 text-right">{count(row.tokensOutput)}</td>
              <td className="px-4 py-2 text-right">{money(row.estimatedCost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
