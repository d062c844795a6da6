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
  const facts = [
    ["Ended by", typeof exitSignal === "string" && exitSignal],
    ["Exit code", typeof exitCode === "number" && String(exitCode)],
    ["Ran for", typeof elapsedMs === "number" && duration(elapsedMs)],
    ["Reason", typeof abortReason === "string" && (ABORT_REASONS[abortReason] ?? abortReason)],
    ["Command", commandLine(diagnostics.spawnMeta)],
  ];
  const known = facts.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`);
  const tails = [
    ["Standard error", stderrTail],
    ["End of the log", logTail],
  ];
  const shown = tails.filter(([, text]) => typeof text === "string" && text.trim() !== "");
  return [known.join("\n"), ...shown.map(([name, text]) => `${name}:\n${text}`)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function commandLine(spawnMeta: unknown): string | undefined {
  if (typeof spawnMeta !== "object" || spawnMeta === null) return undefined;
  const { command, args } = spawnMeta as { command?: unknown; args?: unknown };
  if (typeof command !== "string") return undefined;
  return [command, ...(Array.isArray(args) ? args : [])].join(" ");
}
