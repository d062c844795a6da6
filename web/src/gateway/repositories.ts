/**
 * Repositories to choose from: those of the gateway on this machine, else those of a desktop that
 * is reached through the control plane.
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
      throw error;
    });
    return repos.flatMap(({ fullName, path, defaultBranch }) =>
      fullName ? [{ fullName, path, defaultBranch: defaultBranch ?? undefined }] : [],
    );
  },
  staleTime: 30_000,
  retry: false,
});

/** Those of the first desktop that is online; nothing when there is none. */
async function relayedRepositories(signal: AbortSignal): Promise<ListedRepo[] | undefined> {
  const targets = await queryClient.query(computeTargetsQuery);
  const online = targets.find((target) => target.isOnline);
  if (!online) return undefined;
  const answer = await relayGet(online.id, "repos_config", "/api/gateway/repos", signal);
  return (answer as GatewayRepos | undefined)?.repos;
}

/** What to tell a person when the list cannot be had. */
export function gatewayAdvice(error: unknown): { title: string; text: string } {
  if (error instanceof GatewayError && error.problem === "absent") {
    return {
      title: "No gateway answers on this machine",
      text: "Start Loopgate here with `loopgate up` to choose from your repositories, or type owner/repository.",
    };
  }
  if (error instanceof GatewayError && error.problem === "refused") {
    return {
      title: "The gateway on this machine belongs to another account",
      text: `It said “${error.message}”. Restart Loopgate to pair it with this account, or type owner/repository.`,
    };
  }
  return {
    title: "The repositories could not be read",
    text: `${error instanceof Error ? error.message : "The gateway failed."} You can still type owner/repository.`,
  };
}
