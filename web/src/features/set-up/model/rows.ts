/** Maps the checks of a machine to the rows of the set-up list. */
import type { GatewayCheck, ListedRepo, StoredCheck } from "@/api/types";

export interface CheckRow {
  id: string;
  name: string;
  required: boolean;
  passed: boolean;
  /** Detected version. For the directory of worktrees and the repository: which one. */
  version: string | undefined;
  error: string;
  /** What to do, with code in backticks. */
  remedy: string;
  /** Commands of the remedy. */
  commands: string[];
  /** Diagnostics of a failed check. */
  details: { label: string; text: string }[];
}

/** Names of the known checks, in the order of the list. */
const NAMES = new Map([
  ["assistant-cli", "Assistant (claude)"],
  ["git", "Git"],
  ["code-host-cli", "Code host (gh)"],
  ["code-host-auth", "Sign-in to the code host"],
  ["worktree-dir", "Worktree directory"],
  ["repository", "Repository"],
  ["python3", "Python 3"],
  ["reviewer", "Reviewer (codex)"],
]);
const ORDER = [...NAMES.keys()];

/** Returns the rows in the order of `NAMES`, then those of other checks, for example of plugins. */
export function toRows(checks: (GatewayCheck | StoredCheck)[], repos?: ListedRepo[]): CheckRow[] {
  const position = ({ id }: CheckRow) => (NAMES.has(id) ? ORDER.indexOf(id) : ORDER.length);
  return [...checks, ...(repos ? [repositoryCheck(repos)] : [])]
    .map(toRow)
    .sort((a, b) => position(a) - position(b));
}

function toRow(check: GatewayCheck | StoredCheck): CheckRow {
  const { id, label, required, passed, version, error, remediation, debug } = check;
  return {
    id,
    name: NAMES.get(id) ?? (id.startsWith("plugin-") ? `Plugin ${label}` : label),
    required,
    passed,
    version: version ?? undefined,
    error: error ?? "Missing",
    remedy: remediation ?? "",
    commands: commandsOf(remediation ?? ""),
    details: detailsOf(debug),
  };
}

/** The gateway lists the repositories, but has no check of them. */
function repositoryCheck(repos: ListedRepo[]): GatewayCheck {
  const names = repos.flatMap(({ fullName }) => fullName ?? []);
  const others = names.length > 1 ? ` and ${names.length - 1} more` : "";
  return {
    id: "repository",
    label: "Repository",
    required: true,
    passed: names.length > 0,
    version: names[0] === undefined ? null : names[0] + others,
    error: "None found",
    remediation:
      "Clone a repository of the code host into the sandbox directory. Or enter owner/repository for a new loop: Loopgate clones it.",
  };
}

/** Returns the commands that a text instructs to run: code in backticks after `run` or `with`. */
function commandsOf(remedy: string): string[] {
  return [...remedy.matchAll(/\b(?:run|with) `([^`]+)`/gi)].flatMap((match) => match[1] ?? []);
}

function detailsOf(debug: GatewayCheck["debug"] | StoredCheck["debug"]): CheckRow["details"] {
  if (!debug) return [];
  if (typeof debug === "string") return [{ label: "Diagnostics", text: debug }];
  const texts: [string, string | null | undefined][] = [
    ["Standard error", debug.stderr],
    ["Error code", debug.errorCode],
    ["Path in the settings", debug.overrideUsed],
    ["Found executables", debug.foundAt?.join("\n")],
    ["Found, but not executable", debug.nonExecutableAt?.join("\n")],
    ["Searched PATH", debug.resolvedPath?.replaceAll(":", "\n")],
    ["Login shell", debug.shell],
    ["Platform", debug.platform],
  ];
  return texts.flatMap(([label, text]) => (text ? [{ label, text }] : []));
}

/** Returns the required checks that failed. */
export const missing = (rows: CheckRow[]): CheckRow[] =>
  rows.filter(({ required, passed }) => required && !passed);

/** Summarizes a machine that is ready, for example `claude 2.1.197, git 2.47.3, gh 2.63.2 signed in`. */
export function readySummary(rows: CheckRow[]): string {
  const version = (id: string) => rows.find((row) => row.id === id)?.version;
  return [
    ["claude", version("assistant-cli")],
    ["git", version("git")],
    ["gh", version("code-host-cli"), "signed in"],
  ]
    .map((words) => words.filter(Boolean).join(" "))
    .join(", ");
}
