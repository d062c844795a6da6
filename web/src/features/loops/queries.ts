/** Reads a loop and its events. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import type { paths } from "@/api/control-plane.gen";
import { loopDetailQuery, unlessMissing } from "@/api/queries";
import type { Scope } from "@/api/scope";
import type { EventRange, LoopEvent } from "@/api/types";
import { isActive } from "@/model/status";
import type { LogSearch } from "@/routing/log-search";

import type { EventSource } from "./model/event-window";

// Tokens and cost of a running loop, which are no event of the list. The status is.
const ACTIVE_POLL_MS = 15_000;

export const loopQuery = (scope: Scope, id: string) =>
  queryOptions({
    ...loopDetailQuery(scope, id),
    refetchInterval: (query) => {
      const { data } = query.state;
      return data === undefined || isActive(data.status)
        ? unlessMissing(ACTIVE_POLL_MS)(query)
        : false;
    },
  });

type EventQuery = NonNullable<paths["/loops/{id}/events"]["get"]["parameters"]["query"]>;

// Events of one response of a download.
const DOWNLOAD_EVENTS = 500;
const MATCHES = 100;
const MATCHES_REFRESH_MS = 5_000;

const readEvents = ({ api }: Scope, id: string, query: EventQuery, signal?: AbortSignal) =>
  unwrap(
    api.GET("/loops/{id}/events", { params: { path: { id }, query }, signal: signal ?? null }),
  );

/** Returns a reader of the parts of a loop's log. */
export const eventSource = (scope: Scope, id: string): EventSource => ({
  before: async (before, limit) =>
    (await readEvents(scope, id, {
      tail: limit,
      ...(before !== undefined && { before }),
    })) as EventRange,
  after: async (after, limit) => (await readEvents(scope, id, { after, limit })) as LoopEvent[],
});

/** A search in the log of a loop. */
/** Matching events, the latest first by page. */
export const matchesQuery = (scope: Scope, id: string, search: LogSearch, isActive: boolean) =>
  infiniteQueryOptions({
    queryKey: scope.key("loops", id, "matches", search),
    queryFn: async ({ pageParam, signal }) => {
      const position = pageParam !== undefined && { before: pageParam };
      return (await readEvents(
        scope,
        id,
        { ...search, limit: MATCHES, ...position },
        signal,
      )) as EventRange;
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => last.before ?? undefined,
    refetchInterval: isActive && MATCHES_REFRESH_MS,
  });

/** One event with complete values. */
export const eventQuery = ({ api, key }: Scope, id: string, sequence: number) =>
  queryOptions({
    queryKey: key("loops", id, "event", sequence),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/loops/{id}/events/{sequence}", { params: { path: { id, sequence } }, signal }),
      ),
    staleTime: Infinity,
  });

/** The latest report of the loop's phase and tasks, which the end of a long log need not contain. */
export const progressQuery = (scope: Scope, id: string) =>
  queryOptions({
    queryKey: scope.key("loops", id, "progress"),
    queryFn: async ({ signal }) => {
      const query = { type: "progress", sort: "desc", limit: 1 };
      const page = (await readEvents(scope, id, query, signal)) as { data: LoopEvent[] };
      return page.data.find((event) => event.type === "progress") ?? null;
    },
    staleTime: Infinity,
  });

/** The events about messages to the loop. Later ones arrive with the stream. */
export const messageEventsQuery = (scope: Scope, id: string) =>
  queryOptions({
    queryKey: scope.key("loops", id, "messages"),
    queryFn: async ({ signal }) => {
      const read = async (type: string) => {
        const query = { type, sort: "desc", limit: 500 };
        return ((await readEvents(scope, id, query, signal)) as { data: LoopEvent[] }).data;
      };
      return (await Promise.all([read("message"), read("message_delivery")])).flat();
    },
    staleTime: Infinity,
  });

/** The latest reports of tokens and costs, oldest first. */
export const usageQuery = (scope: Scope, id: string) =>
  queryOptions({
    queryKey: scope.key("loops", id, "usage"),
    queryFn: async ({ signal }) => {
      const query = { type: "usage", sort: "desc", limit: 500 };
      const page = (await readEvents(scope, id, query, signal)) as { data: LoopEvent[] };
      return page.data.toReversed();
    },
    staleTime: Infinity,
  });

/** Reads all events of a loop. */
export async function readAllEvents(scope: Scope, id: string): Promise<LoopEvent[]> {
  const all: LoopEvent[] = [];
  for (;;) {
    const query = { after: all.at(-1)?.sequence ?? 0, limit: DOWNLOAD_EVENTS };
    const events = (await readEvents(scope, id, query)) as LoopEvent[];
    if (events.length === 0) return all;
    all.push(...events);
  }
}
