/** Debian's browser: nothing is downloaded for the tests. */
export const BROWSER_PATH = process.env.LOOPGATE_CHROMIUM ?? "/usr/bin/chromium";

export const BROWSER_ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
