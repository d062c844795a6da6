/**
 * The page's part of its session.
 *
 * Browsers send the session cookie to every port of the host. This key stays in the storage of our
 * origin, port included, and the control plane accepts the cookie only beside it. All tabs read the
 * same storage, so one sign-in serves them all.
 */
const STORAGE_KEY = "loopgate.session-key";

/** In use where the browser allows no storage; it then lasts as long as the page. */
let unstored: string | undefined;

export function setSessionKey(key: string | undefined): void {
  unstored = key;
  try {
    if (key === undefined) window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, key);
  } catch {
    // Kept above.
  }
}

export function sessionKey(): string | undefined {
  try {
    return window.localStorage.getItem(STORAGE_KEY) ?? unstored;
  } catch {
    return unstored;
  }
}
