/**
 * The session key, which the control plane requires in addition to the session cookie.
 *
 * Browsers send the cookie to every port of the host, so another server on this machine could read
 * it. `localStorage` is bound to the origin, including the port. All tabs share it, so one sign-in
 * applies to all of them.
 */
const STORAGE_KEY = "loopgate.session-key";

// Fallback for browsers that deny storage. It lasts as long as the page.
let memoryKey: string | undefined;

export function setSessionKey(key: string | undefined): void {
  memoryKey = key;
  try {
    if (key === undefined) window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, key);
  } catch {
    // Storage is denied; `memoryKey` has the value.
  }
}

export function sessionKey(): string | undefined {
  try {
    return window.localStorage.getItem(STORAGE_KEY) ?? memoryKey;
  } catch {
    return memoryKey;
  }
}

/** Calls `listener` when another tab signs in. Returns the function that removes it. */
export function onSignedInElsewhere(listener: () => void): () => void {
  const onStorage = ({ key, newValue }: StorageEvent) => {
    if (key === STORAGE_KEY && newValue !== null) listener();
  };
  window.addEventListener("storage", onStorage);
  return () => window.removeEventListener("storage", onStorage);
}
