/** List of all loops, newest first. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { GitPullRequest, Repeat2 } from "lucide-react";
import { type ReactNode, useDeferredValue } from "react";

import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Loop } from "@/api/types";
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
import { useListShortcuts } from "@/ui/list-shortcuts";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Notice, Panel } from "@/ui/panel";
import { SearchField } from "@/ui/search-field";
import { StatusBadge } from "@/ui/status-badge";
import { VirtualRows } from "@/ui/virtual-rows";

import { type LoopFilters, loopFilters } from "../model/filters";
import { firstPageQuery, useLoops } from "../queries";

const route = getRouteApi("/$orgSlug/loops");

// Shared by the header and all rows. On small screens a row has two lines.
const GRID =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5 md:grid-cols-[6.75rem_minmax(0,1fr)_5.5rem_5rem_5.5rem_4.5rem]";

/** `setUp`: what the machine needs for loops, shown until there is a loop. */
export function LoopsList({ setUp }: { setUp: ReactNode }) {
  usePageTitle("Loops");
  useListShortcuts("loops");
  // Deferred, so that the list stays on the page until the next one is loaded.
  const filters = useDeferredValue(route.useSearch());
  const list = useLoops(filters);
  const isEmpty = list.total === 0 && Object.keys(filters).length === 0;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 max-md:flex-col max-md:flex-nowrap max-md:items-stretch">
        <div className="flex items-baseline gap-3">
          <h1 className="text-xl font-semibold tracking-tight">Loops</h1>
          {!isEmpty && (
            <p role="status" className="text-ink-3 tabular-nums">
              {exact(list.total)} {list.total === 1 ? "loop" : "loops"}
            </p>
          )}
        </div>
        {!isEmpty && <LoopSearch />}
      </div>
      {!isEmpty && <Filters />}
      <OfflineNotice />
      {isEmpty && <div className="mt-4">{setUp}</div>}
      <Panel className="mt-4 overflow-hidden">
        {isEmpty ? <NoLoops /> : list.total === 0 ? <NoMatches /> : <LoopTable {...list} />}
      </Panel>
    </>
  );
}

/** Searches titles, prompts, repositories and branches. */
function LoopSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <SearchField
      label="Search loops"
      placeholder="Search"
      maxLength={200}
      text={search.text ?? ""}
      onSearch={(text) =>
        navigate({
          search: (current) => loopFilters({ ...current, text }),
          replace: true,
          resetScroll: false,
        })
      }
      className="md:!w-64"
    />
  );
}

/** Filters for all statuses, and for the commands of recent loops. */
function Filters() {
  const search = route.useSearch();
  const { status = [], command = [] } = search;
  const navigate = route.useNavigate();
  const { data: recent } = useQuery({
    ...firstPageQuery(useScope(), {}),
    refetchInterval: false,
    staleTime: Infinity,
  });
  const commands = [...new Set([...(recent?.data ?? []).map((loop) => loop.command), ...command])];
  const toggle = <T,>(list: T[], item: T): T[] =>
    list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
  const filter = (changes: LoopFilters) =>
    void navigate({ search: loopFilters({ ...search, ...changes }), resetScroll: false });
  return (
    <div
      role="group"
      aria-label="Filters"
      className="mt-3 flex items-center gap-1.5 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 max-md:py-1 md:flex-wrap"
    >
      {commands.map((name) => (
        <FilterChip
          key={name}
          pressed={command.includes(name)}
          onPress={() => filter({ command: toggle(command, name) })}
        >
          {humanise(name)}
        </FilterChip>
      ))}
      <span aria-hidden className="mx-1 h-5 w-px bg-line" />
      {STATUSES.map((name) => (
        <FilterChip
          key={name}
          tone={statusFacts(name).tone}
          pressed={status.includes(name)}
          onPress={() => filter({ status: toggle(status, name) })}
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
      <Notice tone="warn" title="No machine is online">
        New loops cannot start. Run <Code>loopgate up</Code> on the machine that has your
        repositories.
      </Notice>
    </div>
  );
}

function NoLoops() {
  const { orgSlug } = route.useParams();
  return (
    <EmptyState
      icon={<Repeat2 />}
      title="No loops yet"
      action={
        <Link to="/$orgSlug/new" params={{ orgSlug }} className={buttonClass("primary")}>
          Start the first loop
        </Link>
      }
    >
      Describe a change and select a repository. Review the plan, then select Execute to implement
      it and open a pull request.
    </EmptyState>
  );
}

function NoMatches() {
  const navigate = route.useNavigate();
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

function LoopTable(list: ReturnType<typeof useLoops>) {
  const { orgSlug } = route.useParams();
  const now = useNow(list.rows.some((loop) => isActive(loop.status)) ? 1_000 : 30_000);
  return (
    <div role="table" aria-label="Loops" aria-rowcount={list.total + 1}>
      <div
        role="row"
        aria-rowindex={1}
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
      <VirtualRows list={list} keyOf={(loop) => loop.id} role="rowgroup">
        {(loop, index) => <LoopRow loop={loop} position={index + 2} orgSlug={orgSlug} now={now} />}
      </VirtualRows>
    </div>
  );
}

function LoopRow({
  loop,
  position,
  orgSlug,
  now,
}: {
  loop: Loop;
  /** Number of the row in the table, from 1 for the header. */
  position: number;
  orgSlug: string;
  now: number;
}) {
  const tokens = loop.tokensInput + loop.tokensOutput;
  const spent = moneyOf(loop);
  return (
    <div
      role="row"
      aria-rowindex={position}
      className={cx(
        GRID,
        "relative items-center px-4 py-3 hover:bg-sunken has-[a:focus-visible]:bg-sunken",
      )}
    >
      <span role="cell" className="max-md:col-start-2 max-md:row-start-1 max-md:justify-self-end">
        <StatusBadge status={loop.status} />
      </span>
      <span role="cell" className="min-w-0 max-md:contents">
        <Link
          to="/$orgSlug/loops/$loopId"
          params={{ orgSlug, loopId: loop.id }}
          data-list-item
          dir="auto"
          className="block truncate font-medium after:absolute after:inset-0 max-md:row-start-1"
        >
          {loopTitle(loop)}
        </Link>
        <span className="flex min-w-0 items-center gap-1.5 text-xs text-ink-3 max-md:col-start-1 max-md:row-start-2">
          <span className="font-medium text-ink-2">{humanise(loop.command)}</span>
          {loop.repo && (
            <>
              <span aria-hidden>·</span>
              <span dir="auto" className="truncate">
                {loop.repo.fullName}
                <span dir="auto" className="font-mono text-[0.95em]">
                  {" "}
                  {loop.branchName ?? loop.repo.branch}
                </span>
              </span>
            </>
          )}
          {loop.computeTarget && (
            <span className="truncate max-lg:hidden">
              <span aria-hidden>· </span>
              <bdi>{loop.computeTarget.machineName}</bdi>
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
