import { useEffect, useRef } from "react";

import { useConnection } from "@/api/connection";
import { announce } from "@/ui/announce";
import { Button } from "@/ui/button";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

const UPDATED = "Loopgate was updated. This page still runs the earlier version.";

/**
 * States that the control plane does not respond, and how old the page is, or that it has another version of the app.
 * The person chooses when the page is reloaded, which keeps drafts.
 */
export function ConnectionBar() {
  const { isLost, lastResponseAt, isOutdated } = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLost === wasLost.current) return;
    wasLost.current = isLost;
    announce(isLost ? "Connection lost. Reconnecting." : "Connected again.");
  }, [isLost]);
  useEffect(() => {
    if (isOutdated) announce(UPDATED);
  }, [isOutdated]);
  if (!isLost && !isOutdated) return null;
  return (
    <header className="sticky top-0 z-20 bg-warn-soft px-4 py-1.5 text-center text-sm text-ink">
      {isLost ? (
        <p>Loopgate is not responding. Last update {clock.format(lastResponseAt)}. Reconnecting…</p>
      ) : (
        <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1">
          <p>{UPDATED}</p>
          <Button size="sm" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </div>
      )}
    </header>
  );
}
