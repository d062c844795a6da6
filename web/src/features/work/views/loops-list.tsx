/** List of all loops, newest first. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { GitPullRequest, Repeat2 } from "lucide-react";
import type { ReactNode } from "react";

import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Loop, LoopCommand, LoopStatus } from "@/api/types";
import { moneyOf } from "@/model/cost";
import { ago, count, exact, loopDuration, moment, money } from "@/model/format";
import { usePullRequestHref } from "@/model/pull-request";
import { humanise, isActive, statusFacts, STATUSES } from "@/model/status";
import { loopTitle } from "@/model/title";
import { Button, buttonClass } from "@/ui/button";
import { FilterChip } from "@/ui/filter-chip";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { cx } from "@/ui/cx";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Notice, Panel } from "@/ui/panel";
import { StatusBadge } from "@/ui/status-badge";

import { loopsQuery } from "../queries";

const route = getRouteApi("/$orgSlug/loops");

// Shared by the header and all rows. On small screens a row has two lines.
const GRID =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5 md:grid-cols-[6.75rem_minmax(0,1fr)_5.5rem_5rem_5.5rem_4.5rem]";

/** `setUp`: what the machine needs for loops, shown until there is a loop. */
export function LoopsList({ setUp }: { setUp: ReactNode }) {
  const scope = useScope();
  usePageTitle("Loops");
  const filters = route.useSearch();
  const { data: loops } = useSuspenseQuery(loopsQuery(scope));
  const shown = loops.filter(
    (loop) =>
      (filters.status?.includes(loop.status) ?? true) &&
      (filters.command?.includes(loop.command) ?? true),
  );
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 max-md:flex-col max-md:flex-nowrap max-md:items-stretch">
        <h1 className="text-xl font-semibold tracking-tight">Loops</h1>
        {loops.length > 0 && <Filters loops={loops} />}
      </div>
      <OfflineNotice />
      {loops.length === 0 && <div className="mt-4">{setUp}</div>}
      <Panel className="mt-4 overflow-hidden">
        <LoopTable loops={shown} total={loops.length} />
      </Panel>
    </>
  );
}

/** Filters for the commands and statuses that occur in the list. */
function Filters({ loops }: { loops: Loop[] }) {
  const { status = [], command = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const commands = [...new Set([...loops.map((loop) => loop.command), ...command])];
  const statuses = STATUSES.filter(
    (name) => status.includes(name) || loops.some((loop) => loop.status === name),
  );
  const toggle = <T,>(list: T[], item: T): T[] =>
    list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
  const go = (next: { status: LoopStatus[]; command: LoopCommand[] }) =>
    void navigate({
      search: {
        ...(next.status.length > 0 && { status: next.status }),
        ...(next.command.length > 0 && { command: next.command }),
      },
      resetScroll: false,
    });
  return (
    <div
      role="group"
      aria-label="Filters"
      className="flex items-center gap-1.5 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 max-md:py-1 md:flex-wrap"
    >
      {commands.length > 1 &&
        commands.map((name) => (
          <FilterChip
            key={name}
            pressed={command.includes(name)}
            onPress={() => go({ status, command: toggle(command, name) })}
          >
            {humanise(name)}
          </FilterChip>
        ))}
      {commands.length > 1 && statuses.length > 1 && (
        <span aria-hidden className="mx-1 h-5 w-px bg-line" />
      )}
      {statuses.length > 1 &&
        statuses.map((name) => (
          <FilterChip
            key={name}
            tone={statusFacts(name).tone}
            pressed={status.includes(name)}
            onPress={() => go({ command, status: toggle(status, name) })}
          >
            {statusFacts(name).label}
          </FilterChip>
        ))}
    </div>
  );
}

function OfflineNotice() {
  const scope = useScope();
  const { data: targets } = useQuery(computeTargetsQuery(scope));
  if (!targets || targets.some((target) => target.isOnline)) return null;
  return (
    <div className="mt-4">
      <Notice tone="warn" title="No desktop is online">
        New loops cannot start. Run <Code>loopgate up</Code> on the machine that has your
        repositories.
      </Notice>
    </div>
  );
}

function LoopTable({ loops, total }: { loops: Loop[]; total: number }) {
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const now = useNow(loops.some((loop) => isActive(loop.status)) ? 1_000 : 30_000);
  if (total === 0) {
    return (
      <EmptyState
        icon={<Repeat2 />}
        title="No loops yet"
        action={
          <Link to="/$orgSlug/loops/new" params={{ orgSlug }} className={buttonClass("primary")}>
            Start the first loop
          </Link>
        }
      >
        Describe a change and select a repository. Review the plan, then select Execute to implement
        it and open a pull request.
      </EmptyState>
    );
  }
  if (loops.length === 0) {
    return (
      <EmptyState
        title="No loops match the filters"
        action={
          <Button onClick={() => void navigate({ search: {}, resetScroll: false })}>
            Clear filters
          </Button>
        }
      />
    );
  }
  return (
    <div role="table" aria-label="Loops">
      <div
        role="row"
        className={cx(
          GRID,
          "border-b border-line px-4 py-2 text-xs font-medium text-ink-3 max-md:hidden",
        )}
      >
        <span role="columnheader">Status</span>
        <span role="columnheader">Loop</span>
        <span role="columnheader">Result</span>
        <span role="columnheader" className="text-right">
          Created
        </span>
        <span role="columnheader" className="text-right">
          Duration
        </span>
        <span role="columnheader" className="text-right">
          Tokens
        </span>
      </div>
      {loops.map((loop) => (
        <LoopRow key={loop.id} loop={loop} orgSlug={orgSlug} now={now} />
      ))}
    </div>
  );
}

function LoopRow({ loop, orgSlug, now }: { loop: Loop; orgSlug: string; now: number }) {
  const tokens = loop.tokensInput + loop.tokensOutput;
  const spent = moneyOf(loop);
  return (
    <div
      role="row"
      className={cx(
        GRID,
        "relative items-center border-line px-4 py-3 not-last:border-b hover:bg-sunken has-[a:focus-visible]:bg-sunken",
      )}
    >
      <span role="cell" className="max-md:col-start-2 max-md:row-start-1 max-md:justify-self-end">
        <StatusBadge status={loop.status} />
      </span>
      <span role="cell" className="min-w-0 max-md:contents">
        <Link
          to="/$orgSlug/loops/$loopId"
          params={{ orgSlug, loopId: loop.id }}
          className="block truncate font-medium after:absolute after:inset-0 max-md:row-start-1"
        >
          {loopTitle(loop)}
        </Link>
        <span className="flex min-w-0 items-center gap-1.5 text-xs text-ink-3 max-md:col-start-1 max-md:row-start-2">
          <span className="font-medium text-ink-2">{humanise(loop.command)}</span>
          {loop.repo && (
            <>
              <span aria-hidden>·</span>
              <span className="truncate">
                {loop.repo.fullName}
                <span className="font-mono text-[0.95em]">
                  {" "}
                  {loop.branchName ?? loop.repo.branch}
                </span>
              </span>
            </>
          )}
          {loop.computeTarget && (
            <span className="truncate max-lg:hidden">
              <span aria-hidden>· </span>
              {loop.computeTarget.machineName}
            </span>
          )}
        </span>
      </span>
      <span
        role="cell"
        className="empty:hidden max-md:col-start-1 max-md:row-start-3 md:empty:block"
      >
        <PullRequestLink loop={loop} />
      </span>
      <span
        role="cell"
        title={moment(loop.createdAt)}
        className="text-right text-sm text-ink-2 tabular-nums max-md:col-start-2 max-md:row-start-2 max-md:text-xs"
      >
        {ago(loop.createdAt, now)}
      </span>
      <span role="cell" className="text-right text-sm text-ink-2 tabular-nums max-md:hidden">
        {loopDuration(loop, now) ?? <span className="text-ink-3">–</span>}
      </span>
      <span
        role="cell"
        title={[
          `${exact(loop.tokensInput)} in, ${exact(loop.tokensOutput)} out`,
          ...(spent ? [`${money(spent.usd)}. ${spent.source}`] : []),
        ].join(", ")}
        className="text-right text-sm text-ink-2 tabular-nums max-md:hidden"
      >
        {tokens > 0 ? count(tokens) : <span className="text-ink-3">–</span>}
        {spent && <span className="block text-xs text-ink-3">{money(spent.usd)}</span>}
      </span>
    </div>
  );
}

function PullRequestLink({ loop }: { loop: Loop }) {
  const href = usePullRequestHref(loop.prUrl);
  if (!href) return null;
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="relative z-10 inline-flex items-center gap-1 text-sm font-medium text-accent hover:underline"
    >
      <GitPullRequest aria-hidden className="size-3.5" />
      <span className="sr-only">Pull request </span>#{loop.prNumber}
    </a>
  );
}
