/** Scores in a judges' report, compared with the report on the version before. */

export interface Score {
  judge: string;
  /** Name of the metric, for a judge with several. */
  metric: string | undefined;
  score: number;
  threshold: number;
  reason: string;
  /** Score of the version before. */
  previous: number | undefined;
  /** The judge failed: its score means nothing. */
  isFailed: boolean;
}

interface Metric {
  metric_name: string;
  score: number;
  threshold: number;
  justification?: string;
}

interface Verdict {
  case_id: string;
  final_status?: number;
  metrics: Metric[];
}

/** Status of a judge that could not judge. */
const FAILED = 3;

/** Returns the scores of a report of the artifact `planJudges` or `judges`; empty for another value. */
export function scoresOf(report: unknown, previous: unknown): Score[] {
  const earlier = verdictsOf(previous);
  return verdictsOf(report).flatMap(({ case_id, final_status, metrics }) =>
    metrics.map(({ metric_name, score, threshold, justification = "" }) => ({
      judge: case_id.replace(/-judge$/, ""),
      metric: metrics.length > 1 ? metric_name : undefined,
      score,
      threshold,
      reason: justification,
      previous: earlier
        .find((verdict) => verdict.case_id === case_id && verdict.final_status !== FAILED)
        ?.metrics.find((metric) => metric.metric_name === metric_name)?.score,
      isFailed: final_status === FAILED,
    })),
  );
}

// A model writes the report, so that any part of it may be missing.
function verdictsOf(report: unknown): Verdict[] {
  const stats = (report as { stats?: unknown } | null | undefined)?.stats;
  if (!Array.isArray(stats)) return [];
  return (stats as (Partial<Verdict> | null)[]).flatMap((verdict) => {
    const { case_id, final_status, metrics } = verdict ?? {};
    if (typeof case_id !== "string" || !Array.isArray(metrics)) return [];
    const status = final_status === undefined ? {} : { final_status };
    return { case_id, metrics: metrics.filter(isMetric), ...status };
  });
}

const isMetric = (metric: Partial<Metric> | null): metric is Metric =>
  typeof metric?.metric_name === "string" &&
  typeof metric.score === "number" &&
  typeof metric.threshold === "number";
