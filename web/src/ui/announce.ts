/**
 * The one live region of the app, through which assistive technology announces changes of state. `Announcer` renders it.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";

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

/** Announces `text` when the state of the displayed subject changes. */
export function useStateAnnouncement(subject: string, state: string, text: string): void {
  const displayed = useRef({ subject, state });
  useEffect(() => {
    const before = displayed.current;
    displayed.current = { subject, state };
    if (before.subject === subject && before.state !== state) announce(text);
  }, [subject, state, text]);
}
