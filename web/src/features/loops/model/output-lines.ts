/** Converts loop events into output lines, and keeps the latest lines in bounded memory. */

/** A stored event. Members other than these depend on the type. */
export interface StoredEvent {
  type: string;
  timestamp?: string;
  storedAt?: string;
  [member: string]: unknown;
}

export type LineKind = "text" | "tool" | "result" | "note" | "error";

export interface OutputLine {
  /** Consecutive number within the stream, from 1. */
  number: number;
  kind: LineKind;
  text: string;
  /** Time of the event, ISO 8601. */
  at: string | undefined;
}

type Draft = Omit<OutputLine, "number">;

/** Maximum number of lines to keep. Older lines are dropped and counted. */
export const LINE_CAPACITY = 5_000;
// Lines above the capacity before the oldest are dropped: dropping on every append would copy the array each time.
const SLACK = 1_000;
// In characters. A minified file on one line would block the layout of the page.
const MAX_LINE_CHARS = 2_000;

// Events of these types are the last of a stream.
const TERMINAL = new Set(["completed", "error", "cancelled"]);

export const isTerminalEvent = (event: StoredEvent): boolean => TERMINAL.has(event.type);

/** Returns the output lines of an event. Internal events have none. */
export function linesOf(event: StoredEvent): Draft[] {
  const at = event.timestamp ?? event.storedAt;
  const line = (kind: LineKind, text: string): Draft => ({ kind, text: truncate(text), at });
  // Further lines of a chunk have the kind of the first; the time is shown once.
  const block = (chunk: string, kind = kindOf(chunk)): Draft[] =>
    chunkLines(chunk).map((text, index) => ({
      ...line(kind, text),
      ...(index > 0 && { at: undefined }),
    }));
  switch (event.type) {
    case "output":
      return block(stringOr(event.chunk, ""));
    case "started":
      return [line("note", "Started")];
    case "progress":
      return [
        line("note", `${stringOr(event.stage, "Progress")} · ${Number(event.percent ?? 0)} %`),
      ];
    case "tool_call":
      return [
        line(
          "tool",
          `Tool: ${stringOr(event.tool, "?")} ${event.status === "end" ? "done" : ""}`.trim(),
        ),
      ];
    case "artifact_created":
      return [line("note", `Created ${stringOr(event.artifactType, "an artifact")}`)];
    case "completed":
      return [line("note", "Completed")];
    case "cancelled":
      return [
        line("note", `Cancelled${typeof event.reason === "string" ? `: ${event.reason}` : ""}`),
      ];
    case "error":
      return block(stringOr(event.message, stringOr(event.code, "Error")), "error");
    default:
      return [];
  }
}

function stringOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

function chunkLines(chunk: string): string[] {
  const lines = chunk.split(/\r\n|\r|\n/);
  while (lines.length > 0 && lines.at(-1)?.trim() === "") lines.pop();
  return lines;
}

function kindOf(text: string): LineKind {
  if (text.startsWith("Tool error") || text.startsWith("Error:")) return "error";
  if (text.startsWith("Tool result")) return "result";
  if (text.startsWith("Tool: ")) return "tool";
  return text === "Thinking..." || text === "Turn complete" ? "note" : "text";
}

function truncate(text: string): string {
  return text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
}

/** Bounded buffer of lines, as an external store for React. */
export class LineStore {
  #lines: OutputLine[] = [];
  #total = 0;
  #snapshot: LineSnapshot = { lines: [], dropped: 0, total: 0 };
  readonly #listeners = new Set<() => void>();

  append(drafts: Draft[]): void {
    if (drafts.length === 0) return;
    for (const draft of drafts) this.#lines.push({ ...draft, number: ++this.#total });
    if (this.#lines.length > LINE_CAPACITY + SLACK) this.#lines = this.#lines.slice(-LINE_CAPACITY);
    this.#publish();
  }

  clear(): void {
    this.#lines = [];
    this.#total = 0;
    this.#publish();
  }

  readonly snapshot = (): LineSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #publish(): void {
    this.#snapshot = {
      lines: this.#lines,
      dropped: this.#total - this.#lines.length,
      total: this.#total,
    };
    for (const listener of this.#listeners) listener();
  }
}

/** The array is shared and grows in place. Compare `total` to detect changes. */
export interface LineSnapshot {
  lines: readonly OutputLine[];
  dropped: number;
  total: number;
}
