/** Pauses between attempts to connect to an event stream. */

// Backoff after the first failure. Doubles with each consecutive failure, up to MAX_RETRY_MS.
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;

export function retryDelay(failures: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
}

/** Resolves after a time, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
