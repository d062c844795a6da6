/** What a running loop does at present, according to its latest events. */
import type { LoopEvent, ToolStart } from "@/api/types";

export interface CurrentAction {
  /** Name of the tool, or what the model does. */
  label: string;
  /** Command line or path that the tool works on. */
  detail: string | undefined;
  /** Start, ISO 8601. */
  since: string;
}

/** Returns the latest tool call that has not ended, else what the model does. `undefined` when the loop does not run. */
export function currentAction(events: readonly LoopEvent[]): CurrentAction | undefined {
  const ended = new Set<string>();
  let model: CurrentAction | undefined;
  for (const event of events.toReversed()) {
    const since = event.timestamp ?? event.storedAt;
    switch (event.type) {
      case "completed":
      case "error":
      case "cancelled":
      case "approval":
      case "approval_decision":
      case "queue":
        return model;
      case "started":
        return model ?? { label: "Starts", detail: undefined, since };
      case "output":
        if (event.role === "assistant") model ??= respondsSince(since);
        break;
      case "tool_call":
        if (event.status === "end") {
          if (event.callId) ended.add(event.callId);
          model ??= respondsSince(since);
        } else if (!event.callId || !ended.has(event.callId)) {
          return toolAction(event, since);
        }
    }
  }
  return model;
}

const respondsSince = (since: string): CurrentAction => ({
  label: "Waits for the model",
  detail: undefined,
  since,
});

function toolAction({ tool, category, summary }: ToolStart, since: string): CurrentAction {
  const label = { command: "Runs", agent: "Subagent", file: tool, other: tool }[
    category ?? "other"
  ];
  return { label, detail: summary ?? undefined, since };
}
