import { ChevronRight, OctagonAlert } from "lucide-react";
import type { ReactNode } from "react";

import type { LoopDetail, LoopError as Failure } from "@/api/types";
import { WithCode } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";

import { crashDetails } from "../model/crash-details";
import { adviceFor, subcodeOf } from "../model/error-advice";

type Diagnostics = LoopDetail["diagnostics"];

/** Error of a failed loop: explanation, next steps and technical details. */
export function LoopError({
  error,
  diagnostics,
  setUp,
}: {
  error: Failure;
  diagnostics: Diagnostics;
  /** The check of the machine, shown if its set-up can be the cause. */
  setUp: ReactNode;
}) {
  const { title, explanation, steps, checkMachine } = adviceFor(error);
  const details = [technicalDetails(error), crashDetails(diagnostics ?? {})]
    .filter((part) => part !== "")
    .join("\n\n");
  return (
    <section
      aria-label="Error"
      className="mt-5 flex gap-3.5 rounded-lg border border-bad/40 bg-bad-soft/60 px-4 py-4"
    >
      <OctagonAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <h2 className="text-lg leading-6 font-semibold">{title}</h2>
        <p dir="auto" className="mt-1 max-w-[70ch] text-pretty text-ink-2">
          {explanation}
        </p>
        <h3 className="mt-3 font-medium">What to do</h3>
        <ul className="mt-1 max-w-[70ch] list-disc space-y-1 pl-5 text-ink-2">
          {steps.map((step) => (
            <li key={step}>
              <WithCode text={step} />
            </li>
          ))}
        </ul>
        {checkMachine && <div className="mt-3.5">{setUp}</div>}
        <details className="group mt-3.5">
          <summary className="inline-flex items-center gap-1 rounded-sm text-sm font-medium text-ink-2 hover:text-ink">
            <ChevronRight
              aria-hidden
              className="size-3.5 transition-transform group-open:rotate-90"
            />
            Technical details
          </summary>
          <div className="relative mt-2 rounded-md border border-line bg-surface">
            <pre
              dir="auto"
              // A scrollable region must be reachable by keyboard.
              // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
              tabIndex={0}
              className="max-h-80 overflow-auto px-3.5 py-3 pr-12 font-mono text-xs leading-5 break-words whitespace-pre-wrap"
            >
              {details}
            </pre>
            <div className="absolute top-1 right-1">
              <CopyButton text={details} label="Copy details" />
            </div>
          </div>
        </details>
      </div>
    </section>
  );
}

function technicalDetails(error: Failure): string {
  const subcode = subcodeOf(error);
  const head = `${error.code}${subcode ? ` / ${subcode}` : ""}\n${error.message}`;
  const rest =
    error.result && Object.keys(error.result).length > 0
      ? `\n\n${JSON.stringify(error.result, null, 2)}`
      : "";
  return head + rest;
}
