/** Debian's Chromium, so that the tests download no browser. */
export const BROWSER_PATH = process.env.LOOPGATE_CHROMIUM ?? "/usr/bin/chromium";

export const BROWSER_ARGS = [
  "--headless",
  // Containers run as root, where Chromium's sandbox is not available.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
