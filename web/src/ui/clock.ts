/** Current time for relative times and durations. */
import { useEffect, useState } from "react";

import { useConnection } from "@/api/connection";

/**
 * Returns the current time, updated every `everyMs` milliseconds. Constant when undefined, and while the control plane
 * does not respond: what the page shows is as old as the last response.
 */
export function useNow(everyMs: number | undefined): number {
  const { isLost } = useConnection();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === undefined || isLost) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isLost]);
  return now;
}
