/** The checks of a machine: state, what to do, and diagnostics. */
import { Check, ChevronRight, LoaderCircle, Minus, X } from "lucide-react";
import type { ReactNode } from "react";

import { WithCode } from "@/ui/code";
import { CommandLine } from "@/ui/command-line";
import { cx } from "@/ui/cx";

import type { CheckRow } from "../model/rows";

export function CheckList({ rows, checking }: { rows: CheckRow[]; checking: boolean }) {
  const optional = rows.filter(({ required }) => !required);
  const failed = optional.filter(({ passed }) => !passed).length;
  return (
    <>
      <ul aria-label="Required" className="divide-y divide-line">
        {rows
          .filter(({ required }) => required)
          .map((row) => (
            <CheckItem key={row.id} row={row} checking={checking} />
          ))}
      </ul>
      {optional.length > 0 && (
        <Disclosure
          className="border-t border-line px-4 py-3"
          summary={failed > 0 ? `Optional (${failed} missing)` : "Optional"}
        >
          <ul aria-label="Optional" className="-mx-4 mt-2 -mb-3 divide-y divide-line">
            {optional.map((row) => (
              <CheckItem key={row.id} row={row} checking={checking} />
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  );
}

function CheckItem({ row, checking }: { row: CheckRow; checking: boolean }) {
  const { name, passed, version, error, remedy, commands, details } = row;
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <CheckIcon row={row} checking={checking} />
        <span dir="auto" className="min-w-0 flex-1 font-medium wrap-anywhere">
          {name}
        </span>
        <span dir="auto" className="text-sm wrap-anywhere text-ink-2 max-sm:basis-full max-sm:pl-7">
          {checking ? "Checking…" : passed ? (version ?? "OK") : error}
        </span>
      </div>
      {!passed && (
        <div className="mt-1 space-y-2 pl-7">
          <p className="max-w-[70ch] text-pretty text-ink-2">
            <WithCode text={remedy} />
          </p>
          {commands.map((command) => (
            <CommandLine key={command} text={command} label={`Copy ${command}`} />
          ))}
          {details.length > 0 && (
            <Disclosure
              summary={
                <>
                  Details<span className="sr-only"> of {name}</span>
                </>
              }
            >
              <dl className="mt-2 space-y-2 rounded-md border border-line bg-sunken px-3 py-2 text-xs">
                {details.map(({ label, text }) => (
                  <div key={label}>
                    <dt className="text-ink-3">{label}</dt>
                    <dd
                      dir="auto"
                      className="font-mono leading-5 wrap-anywhere whitespace-pre-wrap"
                    >
                      {text}
                    </dd>
                  </div>
                ))}
              </dl>
            </Disclosure>
          )}
        </div>
      )}
    </li>
  );
}

/** The shape shows the state without colour. */
function CheckIcon({ row, checking }: { row: CheckRow; checking: boolean }) {
  const className = "size-4 shrink-0";
  if (checking) {
    return <LoaderCircle aria-hidden className={cx(className, "animate-spin text-ink-3")} />;
  }
  if (row.passed) return <Check role="img" aria-label="OK" className={cx(className, "text-ok")} />;
  return row.required ? (
    <X role="img" aria-label="Missing" className={cx(className, "text-bad")} />
  ) : (
    <Minus role="img" aria-label="Not available" className={cx(className, "text-ink-3")} />
  );
}

function Disclosure({
  summary,
  className,
  children,
}: {
  summary: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <details className={cx("group/disclosure", className)}>
      <summary className="inline-flex items-center gap-1 rounded-sm text-sm font-medium text-ink-2 hover:text-ink">
        <ChevronRight
          aria-hidden
          className="size-3.5 transition-transform in-[[open]>summary]:rotate-90"
        />
        {summary}
      </summary>
      {children}
    </details>
  );
}
