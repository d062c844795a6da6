/**
 * The one live region of the app, through which assistive technology announces changes of state. `Announcer` renders it.
 */
import { useSyncExternalStore } from "react";

export interface Announcement {
  text: string;
  /** Differs for each announcement, so that the same text is announced again. */
  id: number;
}

let latest: Announcement | undefined;
const listeners = new Set<() => void>();

/** Announces a text once, after what is being read. */
export function announce(text: string): void {
  latest = { text, id: (latest?.id ?? 0) + 1 };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useAnnouncement = (): Announcement | undefined =>
  useSyncExternalStore(subscribe, () => latest);
