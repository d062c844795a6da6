/** What a desktop told about the end of a loop's process, as text. */

import { duration } from "./format";

type Diagnostics = Record<string, unknown>;

const ABORT_REASONS: Record<string, string> = {
  cancelled: "cancelled",
  "process-exit": "the process ended",
  "ghost-loop": "the process was gone when Loopgate looked",
};

/** Lines for a person who looks for the cause; empty when nothing is known. */
export function crashDetails(diagnostics: Diagnostics): string {
  const { exitSignal, exitCode, elapsedMs, abortReason, stderrTail, logTail } = diagnostics;
  const facts: [string, string | undefined][] = [
    ["Ended by", text(exitSignal)],
    ["Exit code", typeof exitCode === "number" ? String(exitCode) : undefined],
    ["Ran for", typeof elapsedMs === "number" ? duration(elapsedMs) : undefined],
    ["Reason", ABORT_REASONS[text(abortReason) ?? ""] ?? text(abortReason)],
    ["Command", commandLine(diagnostics.spawnMeta)],
  ];
  const tails: [string, string | undefined][] = [
    ["Standard error", text(stderrTail)],
    ["End of the log", text(logTail)],
  ];
  const known = facts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  const shown = tails.flatMap(([name, value]) => (value?.trim() ? [`${name}:\n${value}`] : []));
  return [known.join("\n"), ...shown].filter((part) => part !== "").join("\n\n");
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

function commandLine(spawnMeta: unknown): string | undefined {
  if (typeof spawnMeta !== "object" || spawnMeta === null) return undefined;
  const { command, args } = spawnMeta as { command?: unknown; args?: unknown };
  if (typeof command !== "string") return undefined;
  const words: unknown[] = Array.isArray(args) ? args : [];
  return [command, ...words].join(" ");
}
