/** The page to which a person returns after signing in, also by a link that does not name it. */
const STORAGE_KEY = "loopgate.return-to";

/** Pages that are left by signing in. */
const SIGN_IN_PAGES = ["/sign-in", "/signed-out"];

/**
 * Returns whether a value is a path of this origin, and of no page that is left by signing in. Accepting others would be an
 * open redirect: for a browser, `//host`, `/\host` and a host after a slash and a tab are other origins.
 */
export function isReturnPath(value: unknown): value is string {
  const { origin } = window.location;
  if (typeof value !== "string" || !value.startsWith("/") || !URL.canParse(value, origin))
    return false;
  const url = new URL(value, origin);
  return url.origin === origin && !SIGN_IN_PAGES.includes(url.pathname);
}

/** Keeps a path for this tab. */
export function keepReturnPath(path: string): void {
  try {
    window.sessionStorage.setItem(STORAGE_KEY, path);
  } catch {
    // Storage is denied: the person returns to the start page.
  }
}

/** Returns the path that was kept last, and removes it. */
export function takeReturnPath(): string | undefined {
  try {
    const path = window.sessionStorage.getItem(STORAGE_KEY);
    window.sessionStorage.removeItem(STORAGE_KEY);
    return isReturnPath(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
