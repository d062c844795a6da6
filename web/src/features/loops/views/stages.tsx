/** What the page of a change request shows of the loop that determines its state. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useScope } from "@/api/scope";
import type { LoopDetail } from "@/api/types";
import { moneyOf } from "@/model/cost";
import { money } from "@/model/format";
import { isActive } from "@/model/status";
import type { LogSearch } from "@/routing/log-search";
import { Loaded } from "@/ui/loaded";

import { useLoopStream } from "../model/use-loop-stream";
import { loopQuery } from "../queries";
import { ActivityNotice } from "./activity-notice";
import { LiveView } from "./live-view";
import { LoadingStage } from "./loading-loop";
import { CancelButton, ResumeButton } from "./loop-actions";
import { LoopNotices } from "./loop-notices";
import { LoopProblem } from "./loop-problem";
import { LoopMessages } from "./messages";

interface LiveContext {
  orgSlug: string;
  /** Whether the stage offers to cancel the loop. */
  canCancel: boolean;
  /** The check of the machine. */
  setUp: ReactNode;
  search: LogSearch;
  onSearch: (search: LogSearch) => void;
}

/** Cost of a loop so far, and its spending limit. */
function LoopCost({ loop }: { loop: LoopDetail }) {
  const cost = moneyOf(loop);
  const limit = loop.maxSpendUsd == null ? undefined : `limit ${money(loop.maxSpendUsd)}`;
  if (!cost && !limit) return null;
  return (
    <span className="text-sm text-ink-3 tabular-nums" title={cost?.source}>
      {[cost && money(cost.usd), limit].filter(Boolean).join(" · ")}
    </span>
  );
}

/** Log of a loop while it runs and afterwards, with what it needs. */
export function LiveStage({ loopId, ...context }: LiveContext & { loopId: string }) {
  const query = useQuery(loopQuery(useScope(), loopId));
  return (
    <Loaded query={query} pending={<LoadingStage />}>
      {(loop) => <Live loop={loop} {...context} />}
    </Loaded>
  );
}

function Live({
  loop,
  orgSlug,
  canCancel,
  setUp,
  search,
  onSearch,
}: LiveContext & { loop: LoopDetail }) {
  const active = isActive(loop.status);
  const { log, latest, activity, state } = useLoopStream(loop.id, !active);
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
        {active && canCancel && <CancelButton loopId={loop.id} />}
        {!active && <ResumeButton loop={loop} orgSlug={orgSlug} />}
        <LoopCost loop={loop} />
      </div>
      <LoopProblem loop={loop} orgSlug={orgSlug} setUp={setUp} />
      <LoopNotices loop={loop} />
      <div className="mt-4 empty:hidden">
        <ActivityNotice activity={activity} />
      </div>
      <div className="mt-4">
        <LiveView
          loopId={loop.id}
          log={log}
          latest={latest}
          state={state}
          active={active}
          search={search}
          onSearch={onSearch}
        />
        <LoopMessages loop={loop} latest={latest} />
      </div>
    </>
  );
}
