/** Scores of the judges of a version, compared with those of the version before. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import type { Document, LoopDetail } from "@/api/types";
import { Badge } from "@/ui/status-badge";

import { type Score, scoresOf } from "../model/judges";
import { loopRecordQuery } from "../queries";

export function JudgesView({ plan, version }: { plan: Document; version: number }) {
  const scope = useScope();
  const { data: judged } = useQuery(loopRecordQuery(scope, judgedBy(plan, version)));
  const { data: before } = useQuery(loopRecordQuery(scope, judgedBy(plan, version - 1)));
  const scores = scoresOf(reportOf(judged), reportOf(before));
  if (scores.length === 0) return null;
  return (
    <section aria-labelledby="plan-judges">
      <h2 id="plan-judges" className="text-xs font-medium text-ink-3">
        Judges
      </h2>
      <ul className="mt-2 space-y-3 text-sm">
        {scores.map((score) => (
          <ScoreItem key={`${score.judge} ${score.metric ?? ""}`} score={score} />
        ))}
      </ul>
    </section>
  );
}

/** Returns the id of the loop whose report is about a version: the last evaluation, else the loop that created it. */
function judgedBy({ loops, versions }: Document, version: number): string | undefined {
  const evaluation = loops.find(
    ({ command, status, documentVersion }) =>
      command === "EVALUATE_PLAN" && status === "COMPLETED" && documentVersion === version,
  );
  return (
    evaluation?.id ?? versions.find((record) => record.version === version)?.loopId ?? undefined
  );
}

const reportOf = (loop: LoopDetail | undefined): unknown =>
  loop?.uploadedArtifacts?.planJudges ?? loop?.uploadedArtifacts?.judges;

function ScoreItem({
  score: { judge, metric, score, threshold, reason, previous, isFailed },
}: {
  score: Score;
}) {
  const isReached = score >= threshold;
  const name = [judge, metric].filter(Boolean).join(", ").replaceAll(/[-_]/g, " ");
  return (
    <li className="rounded-md border border-line bg-surface p-3">
      <p className="flex flex-wrap items-center gap-2">
        <span dir="auto" className="font-medium wrap-anywhere first-letter:uppercase">
          {name}
        </span>
        {isFailed ? (
          <Badge tone="idle">Not judged</Badge>
        ) : (
          <Badge tone={isReached ? "ok" : "warn"}>
            {score.toFixed(2)} {isReached ? "reaches" : "is below"} {threshold.toFixed(2)}
          </Badge>
        )}
        {!isFailed && previous !== undefined && (
          <span className="text-ink-3">{difference(score - previous)}</span>
        )}
      </p>
      {reason && (
        <p dir="auto" className="mt-1 wrap-anywhere text-ink-2">
          {reason}
        </p>
      )}
    </li>
  );
}

function difference(change: number): string {
  const amount = Math.abs(change).toFixed(2);
  if (amount === "0.00") return "unchanged";
  return `${amount} ${change > 0 ? "higher" : "lower"} than before`;
}
