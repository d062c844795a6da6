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

const MAX_DRAFTS = 2;

const store: UseStore = createStore("loopgate-drafts", "drafts");
const otherTabs = new BroadcastChannel("loopgate.drafts");

const queryKey = (key: DraftKey) => ["drafts", ...key];

otherTabs.onmessage = ({ data }: MessageEvent<DraftKey>) =>
  void queryClient.invalidateQueries({ queryKey: queryKey(data) });

/** Drafts of a key, the newest first. */
export const draftsQuery = (key: DraftKey) =>
  queryOptions({
    queryKey: queryKey(key),
    queryFn: async () => {
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
  const change = (drafts: Draft[] = []) =>
    [...(draft ? [draft] : []), ...drafts.filter(({ version }) => version !== replaced)].slice(
      0,
      MAX_DRAFTS,
    );
  queryClient.setQueryData(draftsQuery(key).queryKey, change);
  await update<Draft[]>(key, change, store);
  otherTabs.postMessage(key);
}
