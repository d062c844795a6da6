/** Scores of the judges of a version, compared with those of the version before. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import type { Document, LoopDetail } from "@/api/types";
import { scoresOf } from "@/model/judges";
import { ScoreList } from "@/ui/score-list";

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
      <ScoreList scores={scores} />
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
