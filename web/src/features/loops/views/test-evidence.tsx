/** Results of the repository's tests, before and after the work of a loop. */
import type { TestEvidence, TestFlag, TestRun } from "@/api/types";
import { WithCode } from "@/ui/code";
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
  const { base, command, flags = [], head, newFailures = [], note, outcome } = tests;
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
    </div>
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
    <table aria-label="Tests" className="mb-1.5 text-xs">
      <caption className="text-left font-mono text-ink-2">{command}</caption>
      <thead className="text-ink-3">
        <tr>
          {["", "Result", "Passed", "Failed", "Skipped", "Time", "Log"].map((name) => (
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
  );
}

function result({ error, exitCode }: TestRun): string {
  if (error) return "Could not be run";
  return exitCode === 0 ? "Passed" : `Failed (exit code ${exitCode ?? "unknown"})`;
}
