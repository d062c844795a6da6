/** Results of the repository's tests, before and after the work of a loop. */
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

import type { TestEvidence, TestFlag, TestRun } from "@/api/types";
import { WithCode } from "@/ui/code";
import { cx } from "@/ui/cx";
import { TONE_TEXT } from "@/ui/status-badge";

import type { Tone } from "@/model/status";

const OUTCOME: Record<TestEvidence["outcome"], { tone: Tone; text: string }> = {
  passed: { tone: "ok", text: "The tests pass." },
  "failed-before": { tone: "warn", text: "The tests fail, as they did on the base commit." },
  "new-failures": { tone: "bad", text: "New test failures compared with the base commit:" },
  "not-run": { tone: "idle", text: "" },
  inconclusive: { tone: "warn", text: "" },
};

const FLAG_TEXT: Record<TestFlag["kind"], string> = {
  "file-deleted": "Test file deleted",
  "test-removed": "Test removed",
  "test-skipped": "Test skipped",
  "assertions-removed": "Assertions removed",
  "command-changed": "Test command changed",
};

export function TestEvidenceView({ tests }: { tests: TestEvidence }) {
  const { base, command, diffs = [], flags = [], head, newFailures = [], note, outcome } = tests;
  const { tone, text } = OUTCOME[outcome];
  return (
    <div className="mt-3 text-sm">
      {base && head && <Runs command={command} base={base} head={head} />}
      <p className={TONE_TEXT[tone]}>
        {text} {note && <WithCode text={note} />}
      </p>
      {newFailures.length > 0 && (
        <ul aria-label="New failures" className="mt-0.5 text-bad">
          {newFailures.map((name) => (
            <li key={name} dir="auto" className="font-mono text-xs leading-5 break-words">
              {name}
            </li>
          ))}
        </ul>
      )}
      {base?.output && <Output title="Output at the base" text={base.output} />}
      {head?.output && <Output title="Output at the head" text={head.output} />}
      {flags.length > 0 && (
        <ul aria-label="Changes to the tests" className="mt-1 text-warn">
          {flags.map(({ detail, kind, path }) => (
            <li key={`${kind} ${path ?? ""} ${detail}`} className="break-words">
              {FLAG_TEXT[kind]}
              {path && <> in {path}</>}:{" "}
              <code dir="auto" className="font-mono text-xs">
                {detail}
              </code>
            </li>
          ))}
        </ul>
      )}
      {diffs.map(({ path, diff }) => (
        <Details key={path} title={<>Changes of {path}</>}>
          <Patch label={`Changes of ${path}`} text={diff} />
        </Details>
      ))}
    </div>
  );
}

/** End of the output of a run that did not pass. */
function Output({ title, text }: { title: string; text: string }) {
  return (
    <Details title={title}>
      <Scrollable label={title}>{text}</Scrollable>
    </Details>
  );
}

const LINE_CLASS: Record<string, string> = {
  "+": "bg-ok-soft text-ok",
  "-": "bg-bad-soft text-bad",
  "@": "text-ink-3",
};

/** A diff in git's unified format: each line begins with its sign. */
function Patch({ label, text }: { label: string; text: string }) {
  const lines = text.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  return (
    <Scrollable label={label}>
      {lines.slice(Math.max(first, 0)).map((line, at) => (
        <span key={at} className={cx("block min-h-5", LINE_CLASS[line[0] ?? ""])}>
          {line}
        </span>
      ))}
    </Scrollable>
  );
}

function Details({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <details className="group/details mt-1.5">
      <summary className="inline-flex items-center gap-1 rounded-sm font-medium text-ink-2 hover:text-ink">
        <ChevronRight
          aria-hidden
          className="size-3.5 transition-transform group-open/details:rotate-90"
        />
        <span dir="auto" className="wrap-anywhere">
          {title}
        </span>
      </summary>
      {children}
    </details>
  );
}

function Scrollable({ label, children }: { label: string; children: ReactNode }) {
  return (
    <pre
      dir="auto"
      role="region"
      aria-label={label}
      // A scrollable region must be reachable by keyboard.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="mt-1 max-h-96 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5 whitespace-pre"
    >
      {children}
    </pre>
  );
}

function Runs({
  base,
  command,
  head,
}: {
  base: TestRun;
  command?: string | null | undefined;
  head: TestRun;
}) {
  const rows = [
    { name: "Base", run: base },
    { name: "Head", run: head },
  ];
  return (
    // Seven columns are wider than a phone, and the keyboard scrolls them.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="overflow-x-auto" role="region" aria-label="Test results" tabIndex={0}>
      <table aria-label="Tests" className="mb-1.5 text-xs">
        <caption className="text-left font-mono text-ink-2">{command}</caption>
        <thead className="text-ink-3">
          <tr>
            {["Commit", "Result", "Passed", "Failed", "Skipped", "Time", "Log"].map((name) => (
              <th key={name} scope="col" className="pr-5 text-left font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, run }) => (
            <tr key={name}>
              <th scope="row" className="pr-5 text-left font-normal">
                {name} <span className="font-mono text-ink-3">{run.commit.slice(0, 10)}</span>
              </th>
              <td className="pr-5">{result(run)}</td>
              <td className="pr-5">{run.counts?.passed}</td>
              <td className="pr-5">{run.counts?.failed}</td>
              <td className="pr-5">{run.counts?.skipped}</td>
              <td className="pr-5">{(run.durationMs / 1000).toFixed(1)} s</td>
              <td className="font-mono">{run.log}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function result({ error, exitCode }: TestRun): string {
  if (error) return "Could not be run";
  return exitCode === 0 ? "Passed" : `Failed (exit code ${exitCode ?? "unknown"})`;
}
