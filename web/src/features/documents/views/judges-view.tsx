/** Results of the judges of a version, with findings that the user can add to the request for changes. */
import { type RefObject, useState } from "react";
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import type { Document, LoopDetail } from "@/api/types";
import {
  isFault,
  type JudgeFinding,
  type JudgeResult,
  judgeResults,
  omissionsOf,
} from "@/model/judges";
import { Button } from "@/ui/button";
import { FindingText, JudgeList } from "@/ui/judge-list";

import { excerpt } from "../model/change-request";
import { highlight } from "../model/highlights";
import { anchorOf, quotedRange } from "../model/text-anchor";
import type { ReviewDraft } from "../model/use-review";
import { loopRecordQuery } from "../queries";

interface JudgesViewProps {
  plan: Document;
  version: number;
  article: RefObject<HTMLElement | null>;
  /** Absent for a version that takes no comments. */
  review: ReviewDraft | undefined;
}

export function JudgesView({ plan, version, article, review }: JudgesViewProps) {
  const scope = useScope();
  const { data: judged } = useQuery(loopRecordQuery(scope, judgedBy(plan, version)));
  const { data: before } = useQuery(loopRecordQuery(scope, judgedBy(plan, version - 1)));
  const results = judgeResults(reportOf(judged), reportOf(before));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (results.length === 0) return null;
  const selected = results.flatMap((judge) =>
    judge.metrics.flatMap(({ id, findings }) =>
      findings
        .filter((finding) => chosen.has(keyOf(judge, id, finding)))
        .map((finding) => ({ judge, finding })),
    ),
  );
  const add = () => {
    review?.addComments(
      selected.map(({ judge, finding }) => {
        const range = article.current && quotedRange(article.current, finding.quote);
        const anchor = range && article.current && anchorOf(article.current, range);
        const text = commentOf(judge, finding, anchor === undefined);
        return { text, ...(anchor && { anchor }) };
      }),
    );
    setChosen(new Set());
  };
  const toggle = (key: string) =>
    setChosen((keys) => {
      const next = new Set(keys);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  return (
    <section aria-labelledby="plan-judges">
      <h2 id="plan-judges" className="text-xs font-medium text-ink-3">
        Judges
      </h2>
      <p className="mt-1 text-sm text-ink-2">{summaryOf(results)}</p>
      <JudgeList
        results={results}
        renderFinding={(finding, judge, metric) => {
          const key = keyOf(judge, metric.id, finding);
          return (
            <FindingItem
              finding={finding}
              article={article}
              isChosen={chosen.has(key)}
              onToggle={review && isFault(finding) ? () => toggle(key) : undefined}
            />
          );
        }}
      />
      {selected.length > 0 && (
        <Button size="sm" className="mt-3" onClick={add}>
          Add {selected.length === 1 ? "1 finding" : `${selected.length} findings`} to the comments
        </Button>
      )}
      <Omissions sentences={omissionsOf(reportOf(judged))} />
    </section>
  );
}

function FindingItem({
  finding,
  article,
  isChosen,
  onToggle,
}: {
  finding: JudgeFinding;
  article: RefObject<HTMLElement | null>;
  isChosen: boolean;
  onToggle: (() => void) | undefined;
}) {
  const [isMissing, setMissing] = useState(false);
  const show = () => {
    const range = article.current && quotedRange(article.current, finding.quote);
    setMissing(!range);
    if (!range) return;
    range.startContainer.parentElement?.scrollIntoView({ block: "center" });
    highlight("plan-passage", [range]);
  };
  return (
    <div className="flex items-start gap-2">
      {onToggle && (
        <input
          type="checkbox"
          className="mt-1 size-4 shrink-0"
          aria-label={`Request a change: ${finding.explanation}`}
          checked={isChosen}
          onChange={onToggle}
        />
      )}
      <div className="min-w-0 flex-1">
        <FindingText finding={finding} />
        {finding.isSupported ? (
          <button
            type="button"
            dir="auto"
            title="Show the passage"
            onClick={show}
            className="mt-1 line-clamp-3 min-h-6 border-s-2 border-warn ps-2 text-start wrap-anywhere text-ink-2 hover:text-ink"
          >
            {excerpt(finding.quote)}
          </button>
        ) : (
          <p dir="auto" className="mt-1 border-s-2 border-line ps-2 wrap-anywhere text-ink-3">
            {excerpt(finding.quote)}
          </p>
        )}
        <p role="status" className="text-ink-3 empty:hidden">
          {isMissing && "The plan does not contain these words; they are in another document."}
        </p>
      </div>
    </div>
  );
}

function Omissions({ sentences }: { sentences: string[] }) {
  if (sentences.length === 0) return null;
  return (
    <details className="mt-2 text-sm text-ink-2">
      <summary className="cursor-pointer">What the judges have not read</summary>
      <ul className="mt-1 list-disc ps-5">
        {sentences.map((sentence) => (
          <li key={sentence} dir="auto" className="wrap-anywhere">
            {sentence}
          </li>
        ))}
      </ul>
    </details>
  );
}

function summaryOf(results: JudgeResult[]): string {
  const count = (wanted: JudgeResult["status"]) =>
    results.filter(({ status }) => status === wanted).length;
  const parts = [`${count("passed")} of ${results.length} passed`];
  if (count("below") > 0) parts.push(`${count("below")} need improvement`);
  if (count("failed") > 0) parts.push(`${count("failed")} failed`);
  return `${parts.join(", ")}.`;
}

/** The words are in the comment if it has no passage. */
function commentOf(judge: JudgeResult, finding: JudgeFinding, isGeneral: boolean): string {
  const place = isGeneral ? ` (${finding.place}: "${excerpt(finding.quote)}")` : "";
  return `${finding.explanation}${place} [${judge.id}: ${finding.weight}]`;
}

const keyOf = (judge: JudgeResult, metric: string, { quote, weight, explanation }: JudgeFinding) =>
  JSON.stringify([judge.id, metric, weight, quote, explanation]);

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
