/** Says what a loop waits for, when it waits. */
import { ago } from "@/loops/format";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { Notice } from "@/ui/panel";

import type { Standing } from "./standing";

export function StandingNotice({ standing: { queue, stillness } }: { standing: Standing }) {
  const now = useNow(stillness ? 30_000 : undefined);
  if (queue) {
    return (
      <Notice tone="warn" title={`In line on its desktop: ${queue.place} of ${queue.waiting}`}>
        As many loops run there as may. It starts by itself when its turn comes.
      </Notice>
    );
  }
  if (stillness?.state === "stuck") {
    return (
      <Notice tone="warn" title="This loop may be stuck">
        No output, no work and no new process
        {stillness.since !== undefined && <>, the last {ago(stillness.since, now)}</>}.
        {stillness.command !== undefined && (
          <>
            {" "}
            It waits for <Code>{stillness.command}</Code>.
          </>
        )}{" "}
        Nothing was ended; Stop ends it.
      </Notice>
    );
  }
  return null;
}
