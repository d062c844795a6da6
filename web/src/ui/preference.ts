/** On-off settings of a person that are stored in this browser. */
import { useSyncExternalStore } from "react";

export interface Preference {
  /** Undefined until the person has chosen. */
  get: () => boolean | undefined;
  set: (value: boolean) => void;
  subscribe: (listener: () => void) => () => void;
}

export function preference(storageKey: string): Preference {
  const listeners = new Set<() => void>();
  const notify = () => listeners.forEach((listener) => listener());
  let value = read(storageKey);
  // Dispatched when another tab changes the setting.
  window.addEventListener("storage", ({ key }) => {
    if (key !== storageKey) return;
    value = read(storageKey);
    notify();
  });
  return {
    get: () => value,
    set: (next) => {
      value = next;
      try {
        window.localStorage.setItem(storageKey, next ? "on" : "off");
      } catch {
        // Storage is denied: the choice lasts as long as the page.
      }
      notify();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function read(storageKey: string): boolean | undefined {
  try {
    const stored = window.localStorage.getItem(storageKey);
    return stored === "on" ? true : stored === "off" ? false : undefined;
  } catch {
    return undefined;
  }
}

export const usePreference = ({ subscribe, get }: Preference): boolean | undefined =>
  useSyncExternalStore(subscribe, get);
