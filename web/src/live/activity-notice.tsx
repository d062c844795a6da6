/** Says what a loop waits for, when it waits. */
import { ago, moment } from "@/loops/format";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { CommandLine } from "@/ui/command-line";
import { Notice } from "@/ui/panel";

import type { LoopActivity } from "./activity";

export function ActivityNotice({
  activity: { approval, queue, stall },
}: {
  activity: LoopActivity;
}) {
  const now = useNow(stall ? 30_000 : undefined);
  if (approval) {
    return (
      <Notice tone="warn" title="Waiting for approval on its desktop">
        <p>
          The owner of that machine decides whether it starts, until {moment(approval.waitsUntil)}.
          In a terminal there:
        </p>
        <CommandLine text={approval.command} label="Copy the command that approves" />
      </Notice>
    );
  }
  if (queue) {
    return (
      <Notice tone="warn" title={`In line on its desktop: ${queue.place} of ${queue.waiting}`}>
        As many loops run there as may. It starts by itself when its turn comes.
      </Notice>
    );
  }
  if (stall?.state === "waiting-for-limit") {
    return (
      <Notice tone="warn" title="Waiting for the end of a usage limit">
        The assistant&rsquo;s account can be used again
        {stall.until === undefined ? " later" : <> at {moment(stall.until)}</>}. The loop then goes
        on by itself.
      </Notice>
    );
  }
  if (stall?.state === "stuck") {
    return (
      <Notice tone="warn" title="This loop may be stuck">
        No output, no work and no new process
        {stall.since !== undefined && <>, the last {ago(stall.since, now)}</>}.
        {stall.command !== undefined && (
          <>
            {" "}
            It waits for <Code>{stall.command}</Code>.
          </>
        )}{" "}
        Nothing was ended; Stop ends it.
      </Notice>
    );
  }
  return null;
}
