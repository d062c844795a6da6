/**
 * Texts that a person has typed and not sent yet, in the IndexedDB of this origin.
 *
 * A key names the person, the organization, the page and the field. Its drafts are the newest one and, if another tab
 * changed the same text independently, that of the other tab. The query cache contains the drafts of open pages, so
 * that typing also works in browsers that deny storage.
 */
import { queryOptions } from "@tanstack/react-query";
import { createStore, get, type UseStore, update } from "idb-keyval";

import { queryClient } from "@/api/query-client";

export type DraftKey = [person: string, organization: string, page: string, field: string];

export interface Draft {
  /** Changes with the text. */
  version: string;
  value: unknown;
}

/** Replaces the version `replaced` by a newer draft, or removes it without one. */
interface Change {
  key: DraftKey;
  replaced?: string | undefined;
  draft?: Draft | undefined;
}

const MAX_DRAFTS = 2;
const UNCONFIRMED_PREFIX = "loopgate.drafts.unconfirmed.";

const store: UseStore = createStore("loopgate-drafts", "drafts");
const otherTabs = new BroadcastChannel("loopgate.drafts");

const queryKey = (key: DraftKey) => ["drafts", ...key];

otherTabs.onmessage = ({ data }: MessageEvent<DraftKey>) =>
  void queryClient.invalidateQueries({ queryKey: queryKey(data) });

// Leaving a page aborts the changes that IndexedDB has not confirmed. Local storage is synchronous: it keeps them for
// the next page.
const unconfirmed = new Set<Change>();
window.addEventListener("pagehide", () => {
  if (unconfirmed.size === 0) return;
  try {
    localStorage.setItem(
      UNCONFIRMED_PREFIX + crypto.randomUUID(),
      JSON.stringify([...unconfirmed]),
    );
  } catch {
    // The browser denies storage, as the page says.
  }
});

const earlierChanges = storeEarlierChanges();

async function storeEarlierChanges(): Promise<void> {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(UNCONFIRMED_PREFIX));
    for (const name of names) {
      const changes = JSON.parse(localStorage.getItem(name) ?? "[]") as Change[];
      for (const change of changes) await storeChange(change);
      localStorage.removeItem(name);
    }
  } catch {
    // The browser denies storage.
  }
}

/** Drafts of a key, the newest first. */
export const draftsQuery = (key: DraftKey) =>
  queryOptions({
    queryKey: queryKey(key),
    queryFn: async () => {
      await earlierChanges;
      try {
        return (await get<Draft[]>(key, store)) ?? [];
      } catch {
        // The browser denies storage: there are no drafts of earlier pages.
        return [];
      }
    },
    // Stored on this machine: also while the control plane does not respond.
    networkMode: "always",
    // All changes arrive through this module.
    staleTime: Infinity,
  });

/**
 * Replaces the version `replaced` by a newer draft, or removes it without one. Rejects when the browser stores
 * nothing.
 */
export async function saveDraft(
  key: DraftKey,
  replaced: string | undefined,
  draft?: Draft,
): Promise<void> {
  const change = { key, replaced, draft };
  queryClient.setQueryData(draftsQuery(key).queryKey, (drafts) => changed(drafts, change));
  unconfirmed.add(change);
  try {
    await storeChange(change);
  } finally {
    unconfirmed.delete(change);
  }
  otherTabs.postMessage(key);
}

function storeChange(change: Change): Promise<void> {
  return update<Draft[]>(change.key, (drafts) => changed(drafts, change), store);
}

/** Has the same result if the change was already applied. */
function changed(drafts: readonly Draft[] = [], { replaced, draft }: Change): Draft[] {
  const others = drafts.filter(({ version }) => version !== replaced && version !== draft?.version);
  return [...(draft ? [draft] : []), ...others].slice(0, MAX_DRAFTS);
}
