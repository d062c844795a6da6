/**
 * Refreshes lists when the control plane names them as changed, so that they need no polling.
 *
 * Events are not stored: a tab that connects again refreshes all lists.
 */
import { type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { whenResponding } from "./connection";
import type { components } from "./control-plane.gen";
import { EventStream } from "./event-stream";
import { reportSignedOut } from "./query-client";
import { pause, retryDelay } from "./retry-delay";
import { type Scope, useScope } from "./scope";

type ListName = components["schemas"]["ListName"];

/** Cache keys of what each list contains. A loop that waits for an approval waits on the gateway as well. */
const KEYS: Record<ListName, string[][]> = {
  "change-requests": [["change-requests"], ["gateway", "approvals"]],
  loops: [["loops"]],
  "compute-targets": [["compute-targets"]],
};
const ALL = Object.keys(KEYS) as ListName[];

// Later pages of a list stay as they are: only its first page shows what has changed.
const isLaterPage = (queryKey: QueryKey): boolean => queryKey.includes("pages");

export function refreshLists(client: QueryClient, { key }: Scope, lists: ListName[]): void {
  for (const members of lists.flatMap((list) => KEYS[list])) {
    void client.invalidateQueries({
      queryKey: key(...members),
      predicate: ({ queryKey }) => !isLaterPage(queryKey),
    });
  }
}

/** Parses the data of an event. An event of a later version names lists that this one does not know. */
export function changedLists(data: string): ListName[] {
  try {
    const { lists } = JSON.parse(data) as { lists?: unknown };
    return Array.isArray(lists) ? ALL.filter((list) => lists.includes(list)) : [];
  } catch {
    return [];
  }
}

/** Keeps the lists of the organization up to date while the component is mounted. */
export function useListChanges(): void {
  const client = useQueryClient();
  const scope = useScope();
  useEffect(() => {
    const end = new AbortController();
    void follow(scope, client, end.signal);
    return () => end.abort();
  }, [scope, client]);
}

async function follow(scope: Scope, client: QueryClient, signal: AbortSignal): Promise<void> {
  let isOpen = false;
  let failures = 0;
  const stream = new EventStream({
    path: "/organization/changes",
    organization: scope.organization,
    onOpen: () => {
      if (isOpen) return;
      isOpen = true;
      refreshLists(client, scope, ALL);
    },
    onEvent: ({ data }) => {
      failures = 0;
      refreshLists(client, scope, changedLists(data));
      return false;
    },
  });
  while (!signal.aborted) {
    await stream.read(signal).catch(reportSignedOut);
    isOpen = false;
    await pause(retryDelay(failures++), signal);
    await whenResponding();
  }
}
