/**
 * Repositories to choose from: those of the gateway on this machine, else those of the first online
 * desktop, through the control plane.
 */
import { queryOptions } from "@tanstack/react-query";

import { computeTargetsQuery } from "@/api/queries";
import type { GatewayRepos, ListedRepo } from "@/api/types";
import { queryClient } from "@/query-client";

import { GatewayError } from "./local-gateway";
import { relayGet } from "./relay";
import { gateway } from "./this-machine";

export interface RepositoryChoice {
  fullName: string;
  path: string;
  defaultBranch: string | undefined;
}

export const repositoriesQuery = queryOptions({
  queryKey: ["gateway", "repositories"],
  queryFn: async ({ signal }): Promise<RepositoryChoice[]> => {
    const repos = await gateway.repositories(signal).catch(async (error: unknown) => {
      const relayed = await relayedRepositories(signal).catch(() => undefined);
      if (relayed) return relayed;
      // The error of the local gateway is the one the user can act on.
      throw error;
    });
    return repos.flatMap(({ fullName, path, defaultBranch }) =>
      fullName ? [{ fullName, path, defaultBranch: defaultBranch ?? undefined }] : [],
    );
  },
  staleTime: 30_000,
  retry: false,
});

/** Branches per request: a list to choose from, not all of a repository's tens of thousands. */
const BRANCHES_SHOWN = 100;

/** Branches of a repository on this machine. The names of the result contain `filter`. */
export const branchesQuery = (repository: RepositoryChoice | undefined, filter: string) =>
  queryOptions({
    queryKey: ["gateway", "branches", repository?.path, filter],
    queryFn: ({ signal }) =>
      gateway.branches(repository?.path ?? "", filter, BRANCHES_SHOWN, signal),
    enabled: repository !== undefined,
    staleTime: 30_000,
    retry: false,
  });

/** Lists the repositories of the first online desktop. Returns `undefined` when none is online. */
async function relayedRepositories(signal: AbortSignal): Promise<ListedRepo[] | undefined> {
  const targets = await queryClient.query(computeTargetsQuery);
  const online = targets.find((target) => target.isOnline);
  if (!online) return undefined;
  const body = await relayGet(online.id, "repos_config", "/api/gateway/repos", signal);
  return (body as GatewayRepos | undefined)?.repos;
}

/** Explains why the list of repositories could not be loaded, and what to do. */
export function gatewayAdvice(error: unknown): { title: string; text: string } {
  if (error instanceof GatewayError && error.problem === "absent") {
    return {
      title: "No gateway found on this machine",
      text: "Run `loopgate up` here to choose from your repositories, or enter owner/repository.",
    };
  }
  if (error instanceof GatewayError && error.problem === "refused") {
    return {
      title: "The gateway on this machine belongs to another account",
      text: `It rejected the request: “${error.message}”. Restart Loopgate to pair it with this account, or enter owner/repository.`,
    };
  }
  return {
    title: "The list of repositories could not be loaded",
    text: `${error instanceof Error ? error.message : "The gateway returned an error."} You can still enter owner/repository.`,
  };
}
