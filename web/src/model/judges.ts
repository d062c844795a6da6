/** Results in a judges' report, compared with the report on the version before. */

/** What a judge says about a document: all metrics reach their thresholds, one does not, or it could not judge. */
export type JudgeStatus = "passed" | "below" | "failed";

export interface JudgeResult {
  /** Unique in the report. */
  id: string;
  /** Name for people. */
  name: string;
  status: JudgeStatus;
  metrics: MetricResult[];
}

export interface MetricResult {
  id: string;
  name: string;
  score: number;
  threshold: number;
  /** The findings as text, for reports that do not list them, or why the judge failed. */
  reason: string;
  /** Score of the version before. */
  previous: number | undefined;
  findings: JudgeFinding[];
  /** Findings on the version before that the report does not contain. */
  resolved: JudgeFinding[];
}

export interface JudgeFinding {
  weight: string;
  place: string;
  /** Words of a document that was judged. */
  quote: string;
  explanation: string;
  /** Otherwise the words occur in no document, and the finding does not count. */
  isSupported: boolean;
  isComputed: boolean;
  /** Absent in the report on the version before. */
  isNew: boolean;
}

interface Metric {
  metric_name: string;
  score: number;
  threshold: number;
  justification?: string;
  findings?: unknown;
}

interface Verdict {
  case_id: string;
  final_status?: number;
  metrics: Metric[];
}

/** Status of a judge that could not judge. */
const FAILED = 3;
/** Weights of findings that say what is good. */
const PRAISE = ["met", "justified"];

/** Returns whether a finding can become a request for changes. */
export const isFault = ({ weight, isSupported }: JudgeFinding): boolean =>
  isSupported && !PRAISE.includes(weight);

/** Returns the results in a report of the artifact `planJudges` or `judges`; empty for another value. */
export function judgeResults(report: unknown, previous: unknown): JudgeResult[] {
  const earlier = verdictsOf(previous);
  return verdictsOf(report).map(({ case_id, final_status, metrics }) => {
    const before = earlier.find(
      (verdict) => verdict.case_id === case_id && verdict.final_status !== FAILED,
    );
    const results = metrics.map((metric) =>
      metricResult(
        metric,
        before?.metrics.find(({ metric_name }) => metric_name === metric.metric_name),
      ),
    );
    return {
      id: case_id,
      name: words(case_id.replace(/-judge$/, "")),
      status: statusOf(final_status, results),
      metrics: results,
    };
  });
}

/** Returns what judges did not read, in sentences. */
export function omissionsOf(report: unknown): string[] {
  const omitted = (report as { omitted?: unknown } | null | undefined)?.omitted;
  return Array.isArray(omitted) ? omitted.filter((text) => typeof text === "string") : [];
}

function statusOf(status: number | undefined, metrics: MetricResult[]): JudgeStatus {
  if (status === FAILED) return "failed";
  return metrics.some(({ score, threshold }) => score < threshold) ? "below" : "passed";
}

function metricResult(metric: Metric, before: Metric | undefined): MetricResult {
  const findings = findingsOf(metric);
  const earlier = before && findingsOf(before);
  const isIn = (list: JudgeFinding[], { quote, weight }: JudgeFinding) =>
    list.some((other) => other.quote === quote && other.weight === weight);
  return {
    id: metric.metric_name,
    name: words(metric.metric_name),
    score: metric.score,
    threshold: metric.threshold,
    reason: metric.justification ?? "",
    previous: before?.score,
    findings: findings.map((finding) => ({
      ...finding,
      isNew: earlier !== undefined && !isIn(earlier, finding),
    })),
    resolved: (earlier ?? []).filter((finding) => isFault(finding) && !isIn(findings, finding)),
  };
}

function findingsOf({ findings }: Metric): JudgeFinding[] {
  if (!Array.isArray(findings)) return [];
  return (findings as (Record<string, unknown> | null)[]).flatMap((finding) => {
    const text = (name: string) => {
      const value = finding?.[name];
      return typeof value === "string" ? value : "";
    };
    if (text("quote") === "" || text("explanation") === "") return [];
    return {
      weight: text("weight"),
      place: text("place"),
      quote: text("quote"),
      explanation: text("explanation"),
      isSupported: finding?.is_supported === true,
      isComputed: finding?.is_computed === true,
      isNew: false,
    };
  });
}

// Reports of earlier versions were written by a model, so that any part may be missing.
function verdictsOf(report: unknown): Verdict[] {
  const stats = (report as { stats?: unknown } | null | undefined)?.stats;
  if (!Array.isArray(stats)) return [];
  return (stats as (Partial<Verdict> | null)[]).flatMap((verdict) => {
    const { case_id, final_status, metrics } = verdict ?? {};
    if (typeof case_id !== "string" || !Array.isArray(metrics)) return [];
    const known = metrics.filter(isMetric);
    const status = final_status === undefined ? {} : { final_status };
    return known.length === 0 ? [] : { case_id, metrics: known, ...status };
  });
}

const isMetric = (metric: Partial<Metric> | null): metric is Metric =>
  typeof metric?.metric_name === "string" &&
  typeof metric.score === "number" &&
  typeof metric.threshold === "number";

const words = (name: string) => name.replaceAll(/[-_]/g, " ");
