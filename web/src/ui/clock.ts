/** Current time for relative times and durations. */
import { useEffect, useState } from "react";

/** Returns the current time, updated every `everyMs` milliseconds. Constant when undefined. */
export function useNow(everyMs: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
