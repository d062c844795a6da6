/** Notice that explains what a queued or stalled loop waits for. */
import { ago, moment } from "@/model/format";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { CommandLine } from "@/ui/command-line";
import { Notice } from "@/ui/panel";

import type { LoopActivity } from "../model/activity";

export function ActivityNotice({
  activity: { approval, queue, stall },
}: {
  activity: LoopActivity;
}) {
  const now = useNow(stall ? 30_000 : undefined);
  if (approval) {
    return (
      <Notice tone="warn" title="Waiting for approval on the machine">
        <p>
          The loop starts when the owner of the machine approves it, before{" "}
          {moment(approval.waitsUntil)}. Run this command in a terminal on that machine:
        </p>
        <CommandLine text={approval.command} label="Copy approve command" />
      </Notice>
    );
  }
  if (queue) {
    return (
      <Notice
        tone="warn"
        title={`Queued on the machine: position ${queue.place} of ${queue.waiting}`}
      >
        The machine has reached its limit of concurrent loops. This loop starts automatically when a
        slot is free.
      </Notice>
    );
  }
  if (stall?.state === "waiting-for-limit") {
    return (
      <Notice tone="warn" title="Waiting for a usage limit to reset">
        The assistant&rsquo;s account has reached its usage limit
        {stall.until != null && <>, which resets at {moment(stall.until)}</>}. The loop continues
        automatically after the reset.
      </Notice>
    );
  }
  if (stall?.state === "stuck") {
    return (
      <Notice tone="warn" title="This loop may be stuck">
        It has produced no output, used no CPU time and started no process
        {stall.since != null && <>; its last activity was {ago(stall.since, now)}</>}.
        {stall.command != null && (
          <>
            {" "}
            It is waiting for <Code>{stall.command}</Code>.
          </>
        )}{" "}
        Loopgate does not end stuck loops; cancel the loop to end it.
      </Notice>
    );
  }
  return null;
}
