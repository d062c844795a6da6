/** Checks repositories and branches on the chosen machine while they are typed. */
import { useQueries } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import type { RepositoryPreview } from "@/api/types";
import { useDelayed } from "@/ui/use-delayed";

import { previewQuery } from "../queries";
import { parseRepository, type RepositoryInput } from "./repository-input";
import type { ResolvedRepository } from "./request-draft";

const TYPING_DELAY_MS = 300;

export interface EnteredRepository {
  repository: string;
  branch: string;
}

export interface RepositoryCheck extends ResolvedRepository {
  /** Whether the result for what is entered is not known yet. */
  isChecking: boolean;
  /** What the machine found for what is entered, never for an earlier input. */
  preview: RepositoryPreview | undefined;
  /** The machine that responded through the control plane. */
  relayedBy: string | undefined;
  error: Error | null;
}

/** Returns a result for each repository. */
export function useRepositoryChecks(
  machine: string | undefined,
  entered: EnteredRepository[],
): RepositoryCheck[] {
  const scope = useScope();
  const inputs = entered.map(({ repository, branch }) => {
    const input = parseRepository(repository);
    return { input, branch, base: baseOf(input, branch), entry: `${repository}\n${branch}` };
  });
  const settled = useDelayed(JSON.stringify(inputs.map(({ entry }) => entry)), TYPING_DELAY_MS);
  const entries = JSON.parse(settled) as string[];
  const results = useQueries({
    queries: inputs.map(({ input, base, entry }) => ({
      ...previewQuery(scope, machine, input, base),
      enabled: input.kind !== "problem" && entries.includes(entry),
    })),
  });
  return inputs.flatMap(({ input, branch }, at) => {
    const result = results[at];
    if (!result) return [];
    const { data, error, isPending } = result;
    return {
      input,
      branch,
      isChecking: input.kind !== "problem" && isPending,
      preview: data?.data,
      foundName: data?.data.fullName ?? undefined,
      relayedBy: data?.relayedBy?.machineName,
      error,
    };
  });
}

/** Returns the entered branch, else that of the address; empty for the default branch. */
const baseOf = (input: RepositoryInput, branch: string): string =>
  branch.trim() || (input.kind === "name" ? (input.branch ?? "") : "");

/** Why a request cannot use a repository. */
export function repositoryCheckProblem(check: RepositoryCheck): string | undefined {
  const { input, preview, isChecking, error } = check;
  if (input.kind === "problem") return input.problem;
  if (input.kind === "name" || preview?.fullName != null) return undefined;
  if (isChecking) return "The path is still being checked. Try again in a moment.";
  return preview?.reason ?? error?.message ?? "No clone was found at this path.";
}

/** Why a request cannot use a branch. */
export function branchCheckProblem({
  input,
  branch,
  preview,
}: RepositoryCheck): string | undefined {
  if (preview?.branchExists !== false) return undefined;
  const { defaultBranch } = preview;
  const missing = `There is no branch ${baseOf(input, branch)}.`;
  return defaultBranch ? `${missing} The default branch is ${defaultBranch}.` : missing;
}
