/** What the executions of a change request show of their work. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { useScope } from "@/api/scope";
import type { ChangeRequestDetail, LoopDetail } from "@/api/types";
import { exact, money } from "@/model/format";
import { judgeResults } from "@/model/judges";
import { isActive } from "@/model/status";
import { Loaded } from "@/ui/loaded";
import { EmptyState, Panel } from "@/ui/panel";
import { JudgeList } from "@/ui/judge-list";

import { adviceFor } from "../model/error-advice";
import { costByPhase, evidenceSentence, testsOf } from "../model/evidence";
import { openTasks } from "../model/open-parts";
import { resultEntries } from "../model/results";
import { loopQuery } from "../queries";
import { LoadingStage } from "./loading-loop";
import { ResultList } from "./result-list";

/** `executed`: id of the last execution that has ended, or of the one that runs. */
export function EvidenceStage({
  request,
  executed,
}: {
  request: ChangeRequestDetail;
  executed: string;
}) {
  const query = useQuery(loopQuery(useScope(), executed));
  return (
    <Loaded query={query} pending={<LoadingStage />}>
      {(loop) => <Evidence loop={loop} request={request} />}
    </Loaded>
  );
}

function Evidence({ loop, request }: { loop: LoopDetail; request: ChangeRequestDetail }) {
  const entries = resultEntries(loop);
  const isBehind = request.loops.some(
    ({ id, command, status }) => id !== loop.id && command === "EXECUTE" && isActive(status),
  );
  const sentence = evidenceSentence(request.tasks ?? loop.tasks, testsOf(entries));
  return (
    <div className="space-y-7">
      {sentence !== undefined && (
        <p className="text-lg font-medium text-pretty first-letter:uppercase">{sentence}</p>
      )}
      {isBehind && (
        <p className="text-ink-2">
          A later loop is running. The results are those of the one before, the tasks are counted
          now.
        </p>
      )}
      <OpenTasks loop={loop} />
      {entries.length > 0 ? (
        <ResultList entries={entries} />
      ) : (
        <Panel>
          {isActive(loop.status) ? (
            <EmptyState title="The execution is still running">
              Tests and deliveries appear here when the execution has ended.
            </EmptyState>
          ) : (
            <EmptyState title="No results">
              The execution ended without tests or deliveries. Its output says why.
            </EmptyState>
          )}
        </Panel>
      )}
      <CodeJudges loop={loop} request={request} />
      <Costs request={request} />
    </div>
  );
}

/** Tasks that the execution has not done, and why. */
function OpenTasks({ loop }: { loop: LoopDetail }) {
  const open = isActive(loop.status) ? [] : openTasks(loop);
  if (open.length === 0) return null;
  const reason = loop.error && adviceFor(loop.error);
  return (
    <Part title="Tasks that are not done">
      <p className="max-w-[70ch] text-pretty text-ink-2">
        {reason
          ? `${reason.title}. ${reason.explanation}`
          : "The loop reported no reason. Resume it to continue with these tasks."}
      </p>
      <ul className="mt-2 space-y-1">
        {open.map(({ id, text }) => (
          <li key={id} className="flex gap-3">
            <span className="shrink-0 font-mono text-sm text-ink-3">{id}</span>
            <span dir="auto" className="min-w-0 wrap-anywhere">
              {text}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** Results of the last evaluation of the code, else of the report of the execution. */
function CodeJudges({ loop, request }: { loop: LoopDetail; request: ChangeRequestDetail }) {
  const evaluated = request.loops.find(
    ({ command, status }) => command === "EVALUATE_CODE" && status === "COMPLETED",
  );
  const scope = useScope();
  const { data: evaluation } = useQuery({
    ...loopQuery(scope, evaluated?.id ?? ""),
    enabled: evaluated !== undefined,
  });
  const judged = evaluation ?? loop;
  const results = judgeResults(judged.uploadedArtifacts?.codeJudges, undefined);
  if (results.length === 0) return null;
  return (
    <Part title="Judges of the code">
      <JudgeList results={results} />
    </Part>
  );
}

function Costs({ request }: { request: ChangeRequestDetail }) {
  const phases = costByPhase(request.loops);
  return (
    <Part title="Cost by phase">
      <table aria-label="Cost by phase" className="text-sm">
        <thead className="text-xs text-ink-3">
          <tr>
            <th scope="col" className="pr-8 text-left font-normal">
              Phase
            </th>
            <th scope="col" className="pr-8 text-right font-normal">
              Loops
            </th>
            <th scope="col" className="text-right font-normal">
              Cost
            </th>
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {phases.map(({ phase, loops, usd }) => (
            <tr key={phase}>
              <th scope="row" className="pr-8 text-left font-medium">
                {phase}
              </th>
              <td className="pr-8 text-right">{exact(loops)}</td>
              <td className="text-right">{usd > 0 ? money(usd) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-2 font-medium">{title}</h2>
      {children}
    </section>
  );
}
