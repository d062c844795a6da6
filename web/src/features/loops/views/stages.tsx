/** What the page of a change request shows of its loops. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";

import { useScope } from "@/api/scope";
import type { LoopDetail } from "@/api/types";
import { isActive } from "@/model/status";
import { logSearch, type LogSearch } from "@/routing/log-search";
import { EmptyState, Panel } from "@/ui/panel";
import { Loaded } from "@/ui/loaded";

import { resultEntries } from "../model/results";
import { useLoopStream } from "../model/use-loop-stream";
import { loopQuery } from "../queries";
import { ActivityNotice } from "./activity-notice";
import { LoopError } from "./error-card";
import { LiveView } from "./live-view";
import { LoadingLoop } from "./loading-loop";
import { CancelButton, ResumeButton } from "./loop-actions";
import { Question } from "./question";
import { ResultList } from "./result-list";

/** Log of a loop while it runs and afterwards, with what it needs. For pages whose address contains `LogSearch`. */
export function LiveStage({ loopId, orgSlug }: { loopId: string; orgSlug: string }) {
  const query = useQuery(loopQuery(useScope(), loopId));
  return (
    <Loaded query={query} pending={<LoadingLoop />}>
      {(loop) => <Live loop={loop} orgSlug={orgSlug} />}
    </Loaded>
  );
}

function Live({ loop, orgSlug }: { loop: LoopDetail; orgSlug: string }) {
  const active = isActive(loop.status);
  const { log, latest, activity, state } = useLoopStream(loop.id, !active);
  const search = logSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const show = (next: LogSearch) =>
    void navigate({
      to: ".",
      search: (search: Record<string, unknown>) =>
        ({ ...search, text: undefined, about: undefined, ...next }) as never,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <Link
          to="/$orgSlug/loops/$loopId"
          params={{ orgSlug, loopId: loop.id }}
          className="text-sm text-accent hover:underline"
        >
          Details of this loop
        </Link>
        {active ? (
          <CancelButton loopId={loop.id} />
        ) : (
          <ResumeButton loop={loop} orgSlug={orgSlug} />
        )}
      </div>
      {loop.status === "AWAITING_USER" ? (
        <Question loop={loop} orgSlug={orgSlug} />
      ) : (
        loop.error &&
        loop.status !== "COMPLETED" && (
          <LoopError error={loop.error} diagnostics={loop.diagnostics} />
        )
      )}
      <ActivityNotice activity={activity} />
      <div className="mt-4">
        <LiveView
          loopId={loop.id}
          log={log}
          latest={latest}
          state={state}
          active={active}
          search={search}
          onSearch={show}
        />
      </div>
    </>
  );
}

/** Results of an execution: pull requests, tests, and work that was not delivered. */
export function EvidenceStage({ loopId }: { loopId: string }) {
  const query = useQuery(loopQuery(useScope(), loopId));
  return (
    <Loaded query={query} pending={<LoadingLoop />}>
      {(loop) => <Evidence loop={loop} />}
    </Loaded>
  );
}

function Evidence({ loop }: { loop: LoopDetail }) {
  const entries = resultEntries(loop);
  return entries.length > 0 ? (
    <ResultList entries={entries} />
  ) : (
    <Panel>
      <EmptyState title={isActive(loop.status) ? "The execution is still running" : "No results"}>
        Tests and deliveries appear here when the execution has ended.
      </EmptyState>
    </Panel>
  );
}
