/** Log of a loop: what it does now, search and filters, and the log itself or the matches of a search. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState, useSyncExternalStore } from "react";

import { useConnection } from "@/api/connection";
import { useScope } from "@/api/scope";
import { exact } from "@/model/format";
import type { LogSearch } from "@/routing/log-search";
import { Button } from "@/ui/button";
import { ErrorView } from "@/ui/error-view";
import { ProgressDot } from "@/ui/status-badge";

import type { EventWindowStore } from "../model/event-window";
import { logItems, textOf } from "../model/log-items";
import type { Latest, StreamState } from "../model/loop-stream";
import { matchesQuery } from "../queries";
import { CurrentState } from "./current-state";
import { LogList } from "./log-list";
import type { RowContext } from "./log-row";
import { type LogOptions, LogToolbar } from "./log-toolbar";

interface LiveViewProps {
  loopId: string;
  log: EventWindowStore;
  latest: Latest;
  state: StreamState;
  active: boolean;
  search: LogSearch;
  onSearch: (search: LogSearch) => void;
}

export function LiveView(props: LiveViewProps) {
  const { loopId, log, latest, state, active, search, onSearch } = props;
  const { events, newest, hasLater, unreadable } = useSyncExternalStore(
    log.subscribe,
    log.snapshot,
  );
  const [options, setOptions] = useState<LogOptions>({ raw: false, wrap: true });
  const [paused, setPaused] = useState(false);
  const [focus, setFocus] = useState<number>();
  const [open, toggle] = useOpenRows();
  const items = useMemo(() => logItems(events, options.raw), [events, options.raw]);
  const isSearch = search.text !== undefined || search.about !== undefined;
  const context: RowContext = { loopId, wrap: options.wrap, open, onToggle: toggle };

  const pause = (next: boolean) => {
    setPaused(next);
    log.follow(!next);
    if (next) return;
    setFocus(undefined);
    if (hasLater) void log.toEnd();
  };
  const locate = (sequence: number) => {
    pause(true);
    void log.showAround(sequence).then(() => {
      setFocus(sequence);
      onSearch({});
    });
  };

  return (
    <div className="relative overflow-hidden rounded-lg border border-line bg-term">
      <div className="flex min-h-9 flex-wrap items-center gap-3 border-b border-line px-3.5 py-1 text-xs text-ink-3">
        <StreamNote state={state} active={active} />
        <CurrentState loopId={loopId} latest={latest} active={active} />
        <span className="flex-1" />
        {unreadable > 0 && (
          <span role="status" className="text-warn">
            {exact(unreadable)} unreadable {unreadable === 1 ? "event is" : "events are"} not shown
          </span>
        )}
        <span className="tabular-nums">{newest === 1 ? "1 event" : `${exact(newest)} events`}</span>
      </div>
      <LogToolbar
        loopId={loopId}
        search={search}
        onSearch={onSearch}
        options={options}
        onOptions={setOptions}
        text={() => items.map(textOf).join("\n")}
        paused={active && !isSearch ? paused : undefined}
        onPause={pause}
      />
      {isSearch ? (
        <Matches {...props} raw={options.raw} context={{ ...context, onLocate: locate }} />
      ) : (
        <LogList
          items={items}
          label="Output"
          context={context}
          empty={<Waiting state={state} active={active} />}
          active={active}
          isComplete={!hasLater}
          focus={focus}
          paused={paused}
          onPause={pause}
          onStart={() => void log.loadEarlier()}
          onEnd={() => void log.loadLater()}
        />
      )}
    </div>
  );
}

/** Returns the keys of the open tool calls, and a function that opens or closes one. */
function useOpenRows(): [ReadonlySet<string>, (key: string) => void] {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  return [open, toggle];
}

function Matches({
  loopId,
  search,
  active,
  raw,
  context,
}: LiveViewProps & { raw: boolean; context: RowContext }) {
  const query = useInfiniteQuery(matchesQuery(useScope(), loopId, search, active));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const [paused, setPaused] = useState(false);
  const items = useMemo(
    () => logItems(data?.pages.toReversed().flatMap(({ events }) => events) ?? [], raw),
    [data, raw],
  );
  if (error && !data) return <ErrorView error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <p role="status" className="border-b border-line px-3.5 py-1.5 text-xs text-ink-3">
        {data ? matchNote(items.length, hasNextPage) : "Searching…"}
        {hasNextPage && (
          <Button
            variant="quiet"
            size="sm"
            className="ml-2 h-6"
            busy={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Search earlier events
          </Button>
        )}
      </p>
      <LogList
        items={items}
        label="Matches"
        context={context}
        empty={data && "No event matches. Change the search or the filter."}
        active={false}
        isComplete
        paused={paused}
        onPause={setPaused}
        onStart={() => undefined}
        onEnd={() => undefined}
      />
    </>
  );
}

function matchNote(count: number, hasMore: boolean): string {
  const matches = count === 1 ? "1 match" : `${exact(count)} matches`;
  return hasMore ? `${matches} in the latest part of the log.` : `${matches} in the whole log.`;
}

function StreamNote({ state, active }: { state: StreamState; active: boolean }) {
  const { isLost } = useConnection();
  // Another tab may hold the connection, and need not know yet that it is lost.
  const shown = state === "live" && isLost ? "reconnecting" : state;
  if (!active && state !== "refused") return <span>Output</span>;
  const text = {
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Connection lost, reconnecting…",
    ended: "Finished",
    refused: "Output unavailable",
  }[shown];
  return (
    <span role="status" className="flex items-center gap-2">
      {shown === "live" && <ProgressDot />}
      {text}
    </span>
  );
}

function Waiting({ state, active }: { state: StreamState; active: boolean }): ReactNode {
  if (state === "refused")
    return "The server rejected the request for the output. Reload the page or sign in again.";
  if (state === "connecting") return "Connecting…";
  return active ? "Waiting for output…" : "This loop has no output.";
}
