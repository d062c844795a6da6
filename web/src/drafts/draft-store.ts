/**
 * Texts that a person has typed and not sent yet, in the IndexedDB of this origin.
 *
 * A key names the person, the organization, the page and the field. Its drafts are the newest one and, if other tabs
 * changed the same text independently, those of the other tabs. The query cache contains the drafts of open pages, so
 * that typing also works in browsers that deny storage. All drafts of a page are read at once.
 */
import { queryOptions } from "@tanstack/react-query";
import { createStore, get, promisifyRequest, type UseStore, update } from "idb-keyval";
import { v7 as uuidV7 } from "uuid";

import { meQuery } from "@/api/queries";
import { ensure, queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";

export type PageKey = [person: string, organization: string, page: string];
export type DraftKey = [...PageKey, field: string];

export interface Draft {
  /** Changes with the text. */
  version: string;
  value: unknown;
}

/** Drafts of the fields of a page, the newest of each field first. */
export type PageDrafts = Readonly<Record<string, Draft[]>>;

/** Replaces the version `replaced` by a newer draft, or removes it without one. */
interface Change {
  key: DraftKey;
  replaced?: string | undefined;
  draft?: Draft | undefined;
}

// The person, and several forgotten tabs.
const MAX_DRAFTS = 5;
const UNCONFIRMED_PREFIX = "loopgate.drafts.unconfirmed.";

const store: UseStore = createStore("loopgate-drafts", "drafts");
const otherTabs = new BroadcastChannel("loopgate.drafts");

otherTabs.onmessage = ({ data: key }: MessageEvent<DraftKey>) =>
  void get<Draft[]>(key, store).then((drafts = []) => setDrafts(key, () => drafts));

// Leaving a page aborts the changes that IndexedDB has not confirmed. Local storage is synchronous: it keeps them for
// the next page.
const unconfirmed = new Set<Change>();
window.addEventListener("pagehide", () => {
  if (unconfirmed.size === 0) return;
  try {
    localStorage.setItem(UNCONFIRMED_PREFIX + uuidV7(), JSON.stringify([...unconfirmed]));
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

export const draftsQuery = (page: PageKey) =>
  queryOptions({
    queryKey: ["drafts", ...page],
    queryFn: async (): Promise<PageDrafts> => {
      await earlierChanges;
      try {
        return await storedDrafts(page);
      } catch {
        // The browser denies storage: there are no drafts of earlier pages.
        return {};
      }
    },
    // Stored on this machine: also while the control plane does not respond.
    networkMode: "always",
    // All changes arrive through this module.
    staleTime: Infinity,
  });

/** Reads the drafts of a page. For loaders: a page whose drafts are in the cache is displayed without a placeholder. */
export async function loadDrafts(scope: Scope, page: string): Promise<void> {
  const { id, organization } = await ensure(meQuery(scope));
  await ensure(draftsQuery([id, organization.id, page]));
}

function storedDrafts(page: PageKey): Promise<PageDrafts> {
  // An array sorts after all texts.
  const fields = IDBKeyRange.bound(page, [...page, []]);
  return store("readonly", async (drafts) => {
    const [keys, values] = await Promise.all([
      promisifyRequest(drafts.getAllKeys(fields)),
      promisifyRequest<Draft[][]>(drafts.getAll(fields)),
    ]);
    return Object.fromEntries(
      values.map((value, at) => [(keys[at] as DraftKey)[3], value] as const),
    );
  });
}

/** Changes the drafts of a field in the cache, if it contains its page. */
function setDrafts(
  [person, organization, page, field]: DraftKey,
  change: (drafts: Draft[] | undefined) => Draft[],
): void {
  queryClient.setQueryData(
    draftsQuery([person, organization, page]).queryKey,
    (drafts) => drafts && { ...drafts, [field]: change(drafts[field]) },
  );
}

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
  setDrafts(key, (drafts) => changed(drafts, change));
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
