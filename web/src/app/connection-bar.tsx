import { useEffect, useRef } from "react";

import { useConnection } from "@/api/connection";
import { announce } from "@/ui/announce";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** States that the control plane does not respond, and how old the page is. */
export function ConnectionBar() {
  const { isLost, lastResponseAt } = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLost === wasLost.current) return;
    wasLost.current = isLost;
    announce(isLost ? "Connection lost. Reconnecting." : "Connected again.");
  }, [isLost]);
  if (!isLost) return null;
  return (
    <header className="sticky top-0 z-20 bg-warn-soft px-4 py-1.5 text-center text-sm text-ink">
      <p>Loopgate is not responding. Last update {clock.format(lastResponseAt)}. Reconnecting…</p>
    </header>
  );
}
