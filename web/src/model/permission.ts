/** What a start permits, in one sentence. */
import type { LoopStartPreview } from "@/api/types";
import { money } from "./format";

export interface PermissionFacts {
  mode: "plan" | "implement";
  /** Repositories of the loop, the primary one first. */
  repositories: string[];
  /** Name of the machine, if it is known. */
  machine: string | undefined;
  /** What the machine says. Undefined while it is not known. */
  start: LoopStartPreview | undefined;
  /** Whether pull requests wait for the approval of a person. */
  holds: boolean;
  /** Spending limit of the request in US dollars. */
  limitUsd: number | undefined;
}

export function permissionSentence({
  mode,
  repositories,
  machine,
  start,
  holds,
  limitUsd,
}: PermissionFacts): string {
  const place = machine ?? "the machine";
  const [primary = "the repository", ...peers] = repositories;
  if (start?.approval === "denied")
    return `The approval policy of ${place} denies loops on ${primary}: the loop would be refused.`;
  const limits = [limitUsd, start?.maxSpendUsd].filter((limit) => limit != null);
  const limit = limits.length > 0 ? ` and spends at most ${money(Math.min(...limits))}` : "";
  const read = peers.length > 0 ? `, reads ${peers.join(", ")}` : "";
  const worktree = `commands in a separate worktree of ${primary}${read}`;
  const delivery = holds
    ? "Loopgate pushes a branch, opens a pull request once a person has approved the changes, and merges nothing."
    : "Loopgate pushes a branch and opens a pull request, and merges nothing.";
  const work =
    mode === "plan"
      ? `the assistant reads files and runs ${worktree}${limit}; it writes a plan, changes no code, and nothing is pushed.`
      : `the assistant changes files and runs ${worktree}${limit}; ${delivery}`;
  return `${approvalClause(place, start)}${work}`;
}

function approvalClause(place: string, start: LoopStartPreview | undefined): string {
  if (start?.approval === "required") {
    const reason = start.reason == null ? "" : ` (${start.reason})`;
    return `Once the owner of ${place} has approved the loop${reason}, `;
  }
  return start === undefined ? `If the approval policy of ${place} permits it, ` : `On ${place}, `;
}
