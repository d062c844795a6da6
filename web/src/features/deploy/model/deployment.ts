/** The deployment of a worktree: its state in words, what it runs, and the end of its output. */
import type { DeployStatus, DetectedDeployment, ListedRepo } from "@/api/types";
import type { Tone } from "@/model/status";

export type DeployState = "not-started" | "starting" | "running" | "failed";

/** Returns the state. The gateway calls a server `completed` when it responds, and `running` while it starts. */
export function deployState({ status }: Pick<DeployStatus, "status">): DeployState {
  switch (status) {
    case "running":
      return "starting";
    case "completed":
      return "running";
    case "failed":
      return "failed";
    default:
      return "not-started";
  }
}

export const STATE_WORDS: Record<DeployState, { label: string; tone: Tone }> = {
  "not-started": { label: "Not deployed", tone: "idle" },
  starting: { label: "Starting", tone: "run" },
  running: { label: "Running", tone: "ok" },
  failed: { label: "Failed", tone: "bad" },
};

const STARTING_POLL_MS = 2_000;
// The gateway returns the whole end of the output each time, here through the control plane.
const RELAYED_STARTING_POLL_MS = 5_000;
const RUNNING_POLL_MS = 10_000;

/** Returns the interval in which a displayed deployment is read; false when only a person changes it. */
export function pollInterval(status: DeployStatus | undefined, isRelayed: boolean): number | false {
  switch (status && deployState(status)) {
    case "starting":
      return isRelayed ? RELAYED_STARTING_POLL_MS : STARTING_POLL_MS;
    case "running":
      return RUNNING_POLL_MS;
    default:
      return false;
  }
}

const TAIL_LINES = 200;

/** Returns the last lines of an output; empty without any. */
export const outputTail = (logs: string | null | undefined): string =>
  (logs ?? "").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");

/** The commands of a deployment. */
export interface DeployCommands {
  install: string | undefined;
  start: string;
  /** Relative to the worktree; undefined for its root. */
  directory: string | undefined;
}

const textOf = (members: object | null | undefined, name: string): string | undefined => {
  const value: unknown = members && (members as Record<string, unknown>)[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
};

const directoryOf = (path: string | null | undefined): string | undefined => {
  const relative = path?.trim().replace(/^(\.\/+)+|\/+$/g, "");
  return relative === "" || relative === "." ? undefined : relative;
};

/** Returns the commands that the settings of a repository name, which replace those that are detected. */
export function storedCommands(stored: ListedRepo["deployment"]): DeployCommands | undefined {
  const start = textOf(stored, "command");
  return start === undefined
    ? undefined
    : {
        install: textOf(stored, "installCommand"),
        start,
        directory: directoryOf(textOf(stored, "directory")),
      };
}

/** Returns the commands that are detected in a worktree; undefined if they are not known before the start. */
export function detectedCommands(
  { config, candidates = [] }: DetectedDeployment,
  stored: ListedRepo["deployment"],
): DeployCommands | undefined {
  const chosen = directoryOf(textOf(stored, "directory"));
  const best =
    chosen === undefined
      ? config
      : candidates.find((candidate) => directoryOf(candidate.config.directory) === chosen)?.config;
  if (!best?.command) return undefined;
  return {
    install: textOf(stored, "installCommand") ?? best.installCommand ?? undefined,
    start: best.command,
    directory: directoryOf(best.directory),
  };
}

const REFUSAL = "you have not agreed to ";
const ADVICE = "; review it, and agree with: ";
// A word of the shell, quoted if necessary.
const WORD = String.raw`(?:[\p{L}\p{N}/._+@:,%-]+|'(?:[^']|'\\'')*')`;
const COMMAND = new RegExp(`^loopgate trust ${WORD}((?: --deploy ${WORD})+)$`, "u");
const OPTION = new RegExp(` --deploy (${WORD})`, "gu");

const unquoted = (word: string) =>
  word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;

/**
 * Returns the command that consents to the commands of a deployment, from the error of a refused request; undefined if the
 * error has another form.
 *
 * The commands are texts of the repository, and a person will paste the result into a shell: it must consist of words of
 * the shell, and consent to exactly the commands that the error lists.
 */
export function consentCommand(message: string): string | undefined {
  const refusal = message.indexOf(REFUSAL);
  if (refusal < 0) return undefined;
  const text = message.slice(refusal + REFUSAL.length);
  for (let at = text.indexOf(ADVICE); at >= 0; at = text.indexOf(ADVICE, at + 1)) {
    const command = text.slice(at + ADVICE.length);
    const options = COMMAND.exec(command)?.[1] ?? "";
    const agreed = [...options.matchAll(OPTION)].map(([, word = ""]) => `\`${unquoted(word)}\``);
    if (agreed.length > 0 && agreed.join(", ") === text.slice(0, at)) return command;
  }
  return undefined;
}
