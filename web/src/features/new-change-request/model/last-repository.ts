/** The repository of the last request in this browser: the default of the next one. */

const STORAGE_KEY = "loopgate.lastRepository";

export function loadLastRepository(): string | null {
  try {
    return window.localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

export function saveLastRepository(fullName: string): void {
  try {
    window.localStorage.setItem(STORAGE_KEY, fullName);
  } catch {
    // Storage is denied: the field is empty next time.
  }
}
