/** Results of judges, compared with those of the version before. Passed judges are closed. */
import type { ReactNode } from "react";

import type { JudgeFinding, JudgeResult, JudgeStatus, MetricResult } from "@/model/judges";
import type { Tone } from "@/model/status";

import { Badge } from "./status-badge";

const STATUS: Record<JudgeStatus, { tone: Tone; label: string }> = {
  passed: { tone: "ok", label: "Passed" },
  below: { tone: "warn", label: "Needs improvement" },
  failed: { tone: "bad", label: "Failed" },
};

/** `renderFinding`: shows a finding; by default as text. */
export function JudgeList({
  results,
  renderFinding = (finding) => <FindingText finding={finding} />,
}: {
  results: JudgeResult[];
  renderFinding?: (finding: JudgeFinding, judge: JudgeResult, metric: MetricResult) => ReactNode;
}) {
  return (
    <ul className="mt-2 space-y-2 text-sm">
      {results.map((judge) => (
        <li key={judge.id} className="rounded-md border border-line bg-surface">
          <details open={judge.status !== "passed"} className="group p-3">
            <summary className="flex cursor-pointer flex-wrap items-center gap-2">
              <span dir="auto" className="font-medium wrap-anywhere first-letter:uppercase">
                {judge.name}
              </span>
              <Badge tone={STATUS[judge.status].tone}>{STATUS[judge.status].label}</Badge>
              {judge.status !== "failed" && (
                <span className="text-ink-3">{changesOf(judge.metrics)}</span>
              )}
            </summary>
            {judge.metrics.map((metric) => (
              <MetricView
                key={metric.id}
                judge={judge}
                metric={metric}
                renderFinding={(finding) => renderFinding(finding, judge, metric)}
              />
            ))}
          </details>
        </li>
      ))}
    </ul>
  );
}

function MetricView({
  judge,
  metric,
  renderFinding,
}: {
  judge: JudgeResult;
  metric: MetricResult;
  renderFinding: (finding: JudgeFinding) => ReactNode;
}) {
  const { name, score, threshold, reason, previous, findings, resolved } = metric;
  if (judge.status === "failed")
    return (
      <p dir="auto" className="mt-2 wrap-anywhere text-ink-2">
        {reason}
      </p>
    );
  return (
    <div className="mt-2">
      <p className="flex flex-wrap items-baseline gap-x-2 text-ink-2">
        <span dir="auto" className="wrap-anywhere first-letter:uppercase">
          {name}
        </span>
        <span>
          {score.toFixed(2)} {score >= threshold ? "reaches" : "is below"} {threshold.toFixed(2)}
        </span>
        {previous !== undefined && (
          <span className="text-ink-3">{difference(score - previous)}</span>
        )}
      </p>
      {findings.length === 0 && (
        <p dir="auto" className="mt-1 wrap-anywhere text-ink-2">
          {reason}
        </p>
      )}
      <ul className="mt-1 space-y-2 empty:hidden">
        {findings.map((finding, at) => (
          <li key={at}>{renderFinding(finding)}</li>
        ))}
      </ul>
      {resolved.length > 0 && (
        <p className="mt-1 text-ink-3">
          {resolved.length === 1 ? "1 finding" : `${resolved.length} findings`} of the version
          before {resolved.length === 1 ? "is" : "are"} no longer reported.
        </p>
      )}
    </div>
  );
}

/** Weight, explanation and origin of a finding. */
export function FindingText({ finding }: { finding: JudgeFinding }) {
  const { weight, place, explanation, isSupported, isComputed, isNew } = finding;
  const notes = [isNew && "new", isComputed && "found by a program"].filter(Boolean);
  return (
    <div className="wrap-anywhere text-ink-2">
      <p>
        <span className="font-medium">{weight.replaceAll("_", " ")}</span>
        {notes.length > 0 && <span className="text-ink-3"> ({notes.join(", ")})</span>}
        {": "}
        <span dir="auto">{explanation}</span>
        {place && <span className="text-ink-3"> At {place}.</span>}
      </p>
      {!isSupported && (
        <p className="text-warn">
          Unsupported: no document contains the quoted words. The finding does not count.
        </p>
      )}
    </div>
  );
}

function changesOf(metrics: MetricResult[]): string {
  const fresh = metrics.flatMap(({ findings }) => findings).filter(({ isNew }) => isNew).length;
  return fresh === 0 ? "" : `${fresh} new`;
}

function difference(change: number): string {
  const amount = Math.abs(change).toFixed(2);
  if (amount === "0.00") return "unchanged";
  return `${amount} ${change > 0 ? "higher" : "lower"} than before`;
}
