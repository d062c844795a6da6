/** Converts the events of a loop into the items of its log. */
import type { LoopEvent, ToolEnd, ToolStart } from "@/api/types";

interface Item {
  key: string;
  /** Position of the item's first event. */
  sequence: number;
  /** Time of the event, ISO 8601; `undefined` for further lines of the same event. */
  at: string | undefined;
  /** Number of subagents around the item. */
  depth: number;
}

export interface ProseItem extends Item {
  kind: "prose";
  text: string;
}

export type LineTone = "plain" | "note" | "error" | "raw";

export interface LineItem extends Item {
  kind: "line";
  tone: LineTone;
  text: string;
}

/** A tool call. Start or end can be outside of the events. */
export interface ToolItem extends Item {
  kind: "tool";
  start?: ToolStart;
  end?: ToolEnd;
  /** Position of the end. */
  endSequence?: number;
}

export type LogItem = ProseItem | LineItem | ToolItem;

// In characters. A minified file on one line would block the layout of the page.
const MAX_LINE_CHARS = 2_000;

/** Returns the items of events. Without `raw`, those that serve the loop itself are omitted. */
export function logItems(events: readonly LoopEvent[], raw: boolean): LogItem[] {
  const builder = new Builder(raw);
  for (const event of events) builder.add(event);
  return builder.items;
}

class Builder {
  readonly items: LogItem[] = [];
  readonly #raw: boolean;
  // Positions of tool calls in `items` by the id of the call; -1 for an omitted one.
  readonly #calls = new Map<string, number>();
  readonly #depths = new Map<string, number>();

  constructor(raw: boolean) {
    this.#raw = raw;
  }

  add(event: LoopEvent): void {
    switch (event.type) {
      case "output":
        this.#output(event);
        break;
      case "tool_call":
        if (event.status === "start") this.#start(event);
        else this.#end(event);
        break;
      case "started":
        this.#lines(event, "note", "Started");
        break;
      case "completed":
        this.#lines(event, "note", "Completed");
        break;
      case "cancelled":
        this.#lines(event, "note", ["Cancelled", event.reason].filter(Boolean).join(": "));
        break;
      case "error":
        this.#lines(event, "error", [event.message, event.code].find(Boolean) ?? "Error");
        break;
      case "progress":
        this.#lines(event, "note", progressText(event));
        break;
      case "question":
        this.#lines(event, "note", `Question: ${event.text}`);
        break;
      case "message":
        this.#lines(event, "note", `Message of ${event.userName}: ${event.text}`);
        break;
      case "message_delivery":
        this.#lines(event, "note", deliveryText(event));
        break;
      case "limit":
        this.#lines(event, "note", event.text);
        break;
      case "approval":
      case "approval_decision":
      case "queue":
      case "stall":
        this.#lines(event, "note", event.chunk ?? "");
        break;
      case "artifact_created":
        this.#lines(event, "note", `Created ${event.artifactType ?? "an artifact"}`);
        break;
      // Shown in other places of the page, or of no interest for readers.
      case "usage":
      case "support_bundle_uploaded":
      case "tokens_cleared":
      case "token_refreshed":
      case "reap_reversed":
      case "unreadable":
    }
  }

  #output(event: LoopEvent & { type: "output" }): void {
    const depth = this.#depth(event.parentId);
    switch (event.role) {
      case "assistant":
        this.#push({ kind: "prose", text: event.chunk, ...item(event), depth });
        break;
      case "error":
        this.#lines(event, "error", event.chunk, depth);
        break;
      case "note":
        this.#lines(event, "note", event.chunk, depth);
        break;
      case "thinking":
      case "prompt":
      case "control":
        if (this.#raw) this.#lines(event, "raw", event.chunk, depth);
        break;
      default:
        // From a runner that does not report the author.
        this.#lines(event, "plain", event.chunk, depth);
    }
  }

  #lines(event: LoopEvent, tone: LineTone, text: string, depth = 0): void {
    chunkLines(text).forEach((line, index) => {
      const { key, at, sequence } = item(event);
      const isFirst = index === 0;
      this.#push({
        kind: "line",
        tone,
        text: truncate(line),
        key: isFirst ? key : `${key}:${index}`,
        at: isFirst ? at : undefined,
        sequence,
        depth,
      });
    });
  }

  #start(event: LoopEvent & { type: "tool_call"; status: "start" }): void {
    const { callId } = event;
    const depth = this.#depth(event.parentId);
    const isShown = this.#raw || !event.isInternal;
    const common = { ...item(event), key: this.#callKey(event), depth };
    if (callId) {
      this.#depths.set(callId, depth + 1);
      this.#calls.set(callId, isShown ? this.items.length : -1);
    }
    if (isShown) this.#push({ kind: "tool", start: event, ...common });
  }

  #end(event: LoopEvent & { type: "tool_call"; status: "end" }): void {
    const at = event.callId ? this.#calls.get(event.callId) : undefined;
    if (at === -1 || (event.isInternal && !this.#raw)) return;
    const start = at === undefined ? undefined : this.items[at];
    const ended = { end: event, endSequence: event.sequence };
    if (at !== undefined && start?.kind === "tool") this.items[at] = { ...start, ...ended };
    else
      this.#push({ kind: "tool", ...ended, ...item(event), key: this.#callKey(event), depth: 0 });
  }

  /** Returns a key that stays the same when the start of the call is loaded after its end. */
  #callKey({ callId, sequence }: LoopEvent & { type: "tool_call" }): string {
    return callId && !this.#calls.has(callId) ? `call ${callId}` : String(sequence);
  }

  #depth(parent: string | null | undefined): number {
    // The start of the subagent can be outside of the events.
    return parent ? (this.#depths.get(parent) ?? 1) : 0;
  }

  #push(next: LogItem): void {
    this.items.push(next);
  }
}

const item = (event: LoopEvent) => ({
  key: String(event.sequence),
  sequence: event.sequence,
  at: event.timestamp ?? event.storedAt,
});

function progressText({ stage, tasks }: LoopEvent & { type: "progress" }): string {
  const done = tasks && `${tasks.completed} of ${tasks.total} tasks`;
  return [stage && `Phase: ${stage}`, done].filter(Boolean).join(" · ");
}

function deliveryText({ isDelivered, reason }: LoopEvent & { type: "message_delivery" }): string {
  if (isDelivered) return "The assistant has received the message.";
  return ["The message was not delivered", reason].filter(Boolean).join(": ");
}

function chunkLines(chunk: string): string[] {
  const lines = chunk.split(/\r\n|\r|\n/);
  while (lines.length > 0 && lines.at(-1)?.trim() === "") lines.pop();
  return lines;
}

const truncate = (text: string): string =>
  text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;

/** Returns an item as text, for the clipboard and for files. */
export function textOf(shown: LogItem): string {
  if (shown.kind !== "tool") return shown.text;
  const { start, end } = shown;
  const name = [start?.tool ?? end?.tool ?? "Tool", start?.summary].filter(Boolean).join(" ");
  const code = end?.exitCode == null ? "" : ` (exit code ${end.exitCode})`;
  return [`$ ${name}${code}`, outputText(end?.output)].filter(Boolean).join("\n");
}

/** Returns a result as text. */
export function outputText(output: unknown): string {
  if (output === undefined || output === null) return "";
  return typeof output === "string" ? output : JSON.stringify(output, null, 2);
}
