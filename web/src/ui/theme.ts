/** Theme: light, dark, or that of the system. The choice is stored in the browser. */
import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const STORAGE_KEY = "loopgate.theme";
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let choice: ThemeChoice = readChoice();

function readChoice(): ThemeChoice {
  try {
    const stored = window.localStorage.getItem(STORAGE_KEY);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

const resolved = (): "light" | "dark" =>
  choice === "system" ? (systemDark.matches ? "dark" : "light") : choice;

function apply(): void {
  document.documentElement.dataset.theme = resolved();
  for (const listener of listeners) listener();
}

systemDark.addEventListener("change", apply);

export function setTheme(next: ThemeChoice): void {
  choice = next;
  try {
    if (next === "system") window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // Storage is denied: the choice lasts as long as the page.
  }
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, () => choice);

/** The theme in effect. */
export const useTheme = (): "light" | "dark" => useSyncExternalStore(subscribe, resolved);
