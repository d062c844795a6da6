/** Turns loop events into lines, and keeps the newest of them in bounded memory. */

/** A stored event: its type, and whatever else it carries. */
export interface StoredEvent {
  type: string;
  timestamp?: string;
  storedAt?: string;
  [member: string]: unknown;
}

export type LineKind = "text" | "tool" | "result" | "note" | "error";

export interface OutputLine {
  /** Grows by one a line over the life of a stream. */
  number: number;
  kind: LineKind;
  text: string;
  /** ISO time of the event, when it has one. */
  at: string | undefined;
}

type Draft = Omit<OutputLine, "number">;

/** Lines kept at most; older ones are dropped and counted. */
export const LINE_CAPACITY = 5_000;
/** How many lines may pile up above the capacity before the oldest are cut off at once. */
const SLACK = 1_000;
/** Longest text of one line. */
const MAX_LINE_CHARS = 2_000;

/** Event types after which a loop's stream has nothing more to say. */
const TERMINAL = new Set(["completed", "error", "cancelled"]);

export const isTerminalEvent = (event: StoredEvent): boolean => TERMINAL.has(event.type);

/** What an event shows; internal events show nothing. */
export function linesOf(event: StoredEvent): Draft[] {
  const at = event.timestamp ?? event.storedAt;
  const line = (kind: LineKind, text: string): Draft => ({ kind, text: cut(text), at });
  // What follows the first line belongs to it: same kind, same moment.
  const block = (chunk: string, kind = kindOf(chunk)): Draft[] =>
    chunkLines(chunk).map((text, index) => ({
      ...line(kind, text),
      ...(index > 0 && { at: undefined }),
    }));
  switch (event.type) {
    case "output":
      return block(word(event.chunk, ""));
    case "started":
      return [line("note", "Started")];
    case "progress":
      return [line("note", `${word(event.stage, "Progress")} · ${Number(event.percent ?? 0)} %`)];
    case "tool_call":
      return [
        line(
          "tool",
          `Tool: ${word(event.tool, "?")} ${event.status === "end" ? "done" : ""}`.trim(),
        ),
      ];
    case "artifact_created":
      return [line("note", `Created ${word(event.artifactType, "an artifact")}`)];
    case "completed":
      return [line("note", "Completed")];
    case "cancelled":
      return [
        line("note", `Stopped${typeof event.reason === "string" ? `: ${event.reason}` : ""}`),
      ];
    case "error":
      return block(word(event.message, word(event.code, "Error")), "error");
    default:
      return [];
  }
}

function word(value: unknown, fallback: string): string {
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

function cut(text: string): string {
  return text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
}

/** A ring of lines that React can subscribe to. */
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

/** The array is shared and grows in place; `total` identifies its state. */
export interface LineSnapshot {
  lines: readonly OutputLine[];
  dropped: number;
  total: number;
}
