/** What a loop does now, in one line: phase, tasks and current action. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import { duration } from "@/model/format";
import { humanise } from "@/model/status";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";

import { currentAction } from "../model/current-action";
import type { Latest } from "../model/loop-stream";
import { progressQuery } from "../queries";

export function CurrentState({
  loopId,
  latest,
  active,
}: {
  loopId: string;
  latest: Latest;
  active: boolean;
}) {
  const enabled = latest.progress === undefined;
  const { data: earlier } = useQuery({ ...progressQuery(useScope(), loopId), enabled });
  const progress = latest.progress ?? earlier;
  const tasks = progress?.tasks;
  return (
    <>
      {progress?.stage && <span dir="auto">{humanise(progress.stage)}</span>}
      {tasks && (
        <span className="flex items-center gap-1.5">
          <progress
            aria-label="Completed tasks"
            className="h-1.5 w-16 accent-accent"
            max={tasks.total}
            value={tasks.completed}
          />
          {tasks.completed} of {tasks.total} tasks
          {active && tasks.current && <> · now {tasks.current}</>}
        </span>
      )}
      {active && <Action latest={latest} />}
    </>
  );
}

function Action({ latest }: { latest: Latest }) {
  const action = currentAction(latest.events);
  const now = useNow(action ? 1_000 : undefined);
  if (!action) return null;
  const { label, detail, since } = action;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      {label}
      {detail !== undefined && (
        <span dir="auto" className="max-w-80 truncate">
          <Code>{detail}</Code>
        </span>
      )}
      <span className="tabular-nums">{duration(now - Date.parse(since))}</span>
    </span>
  );
}
