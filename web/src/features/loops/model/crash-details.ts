/** Formats the diagnostics that a desktop reports about the process of a loop. */

import { duration } from "@/model/format";

type Diagnostics = Record<string, unknown>;

const ABORT_REASONS: Record<string, string> = {
  cancelled: "cancelled",
  "process-exit": "process exited",
  "ghost-loop": "process disappeared while Loopgate was not monitoring it",
};

/** Returns the diagnostics as text. Empty without any. Members of unexpected types are ignored. */
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
  const factLines = facts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  const tailBlocks = tails.flatMap(([name, value]) =>
    value?.trim() ? [`${name}:\n${value}`] : [],
  );
  return [factLines.join("\n"), ...tailBlocks].filter((part) => part !== "").join("\n\n");
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
