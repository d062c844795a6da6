/** What an EXECUTE of a plan works on, from the loops that it continues. */
import type { Document, Loop, LoopCommand, RepoRef } from "@/api/types";

export interface LaunchFacts {
  /** Base branches included. */
  repositories: RepoRef[];
  /** Branch of the work. Undefined before the first loop has created it. */
  branch: string | undefined;
  /** The worktree exists on this machine only. */
  machine: Loop["computeTarget"];
}

const CONTINUED: readonly LoopCommand[] = ["PLAN", "REQUEST_CHANGES", "EXECUTE"];
const WITH_PEERS: readonly LoopCommand[] = ["PLAN", "EXECUTE"];

/** `request` is the document that the plan was created from: PLAN works on it. */
export function launchFacts(
  plan: Pick<Document, "repo" | "loops">,
  request: Pick<Document, "loops"> | undefined,
  repo = plan.repo,
): LaunchFacts {
  const loops = [...plan.loops, ...(request?.loops ?? [])].sort((one, other) =>
    other.createdAt.localeCompare(one.createdAt),
  );
  const newest = (commands: readonly LoopCommand[]) => {
    const own = loops.filter(({ command }) => commands.includes(command));
    return own.find(({ status }) => status === "COMPLETED") ?? own[0];
  };
  const parent = newest(CONTINUED);
  const primary = repo ?? parent?.repo;
  return {
    repositories: [...(primary ? [primary] : []), ...(newest(WITH_PEERS)?.additionalRepos ?? [])],
    branch: loops.find(({ branchName }) => branchName)?.branchName ?? undefined,
    machine: parent?.computeTarget,
  };
}
