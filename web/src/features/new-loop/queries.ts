/**
 * Repositories to choose from, and the start of a PLAN loop.
 *
 * The repositories are those of the gateway on this machine, else those of the first online desktop, through the
 * control plane.
 */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";
import type { RepoRef } from "@/api/types";
import { keyed, type RequestKey, useKeyedMutation } from "@/api/use-keyed-mutation";
import { branchesOf, repositories } from "@/gateway/operations";
import { request } from "@/gateway/request";
import { titleOf } from "@/model/title";
import { signingKey } from "@/signing/commands";
import { runLoop } from "@/signing/run-loop";

export interface RepositoryChoice {
  fullName: string;
  path: string;
  defaultBranch: string | undefined;
}

export const repositoriesQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key("gateway", "repositories"),
    queryFn: async ({ signal }): Promise<RepositoryChoice[]> => {
      const { repos } = (await request(scope, undefined, repositories, signal)).data;
      return repos.flatMap(({ fullName, path, defaultBranch }) =>
        fullName ? [{ fullName, path, defaultBranch: defaultBranch ?? undefined }] : [],
      );
    },
    staleTime: 30_000,
    retry: false,
  });

/** Branches per request: a list to choose from, not all of a repository's tens of thousands. */
const BRANCHES_SHOWN = 100;

/** Branches of a repository, on the machine that lists the repositories. The names of the result contain `filter`. */
export const branchesQuery = (
  scope: Scope,
  repository: RepositoryChoice | undefined,
  filter: string,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "branches", repository?.path, filter),
    queryFn: async ({ signal }) => {
      const branches = branchesOf(repository?.path ?? "", filter, BRANCHES_SHOWN);
      return (await request(scope, undefined, branches, signal)).data;
    },
    enabled: repository !== undefined,
    staleTime: 30_000,
    retry: false,
  });

/** Input of the new-loop page. */
export interface ChangeRequest {
  prompt: string;
  repo: RepoRef;
  computeTargetId?: string;
}

/**
 * Stores a change request as a document and starts its PLAN loop. Returns the id of the loop. `onStarted` is also called
 * when the page has been left.
 */
export function usePlanRequest(requestKey: RequestKey, onStarted: () => void) {
  const client = useQueryClient();
  const scope = useScope();
  const options = {
    mutationFn: async ({ prompt, ...startOptions }: ChangeRequest, key: string) => {
      const document = {
        type: "FEATURE" as const,
        title: titleOf(prompt),
        content: prompt,
        repo: startOptions.repo,
      };
      const run = { command: "plan" as const, ...startOptions };
      if (await signingKey(scope)) {
        // A signature names the document: it is created first.
        const { id, currentVersion, content } = await unwrap(
          scope.api.POST("/documents", { body: document, ...keyed(`${key}-document`) }),
        );
        return runLoop(scope, { documentId: id, version: currentVersion, content, ...run }, key);
      }
      const started = await unwrap(
        scope.api.POST("/documents/run-loop", { body: { document, run }, ...keyed(key) }),
      );
      return started.loopId;
    },
    onSuccess: () => {
      onStarted();
      return client.invalidateQueries({ queryKey: scope.key("loops") });
    },
  };
  return useKeyedMutation(options, requestKey);
}
