/** Scores of judges, compared with those of the version before. */
import type { Score } from "@/model/judges";

import { Badge } from "./status-badge";

export function ScoreList({ scores }: { scores: Score[] }) {
  return (
    <ul className="mt-2 space-y-3 text-sm">
      {scores.map((score) => (
        <ScoreItem key={`${score.judge} ${score.metric ?? ""}`} score={score} />
      ))}
    </ul>
  );
}

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
