/** Deploys the worktrees of a loop on the machine that executed it. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { unlessMissing } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { Loop } from "@/api/types";
import {
  deployStatus,
  detectDeployment,
  loopChanges,
  type Operation,
  repositories,
  startDeployment,
  stopDeployment,
  type TicketWorktree,
} from "@/gateway/operations";
import { request } from "@/gateway/request";
import { isActive, isWaiting } from "@/model/status";

import {
  type DeployCommands,
  detectedCommands,
  pollInterval,
  storedCommands,
} from "./model/deployment";

const PREPARING_POLL_MS = 5_000;

/** Worktrees of a loop: the repositories with their directories. */
export const worktreesQuery = (scope: Scope, loop: Pick<Loop, "id" | "status" | "computeTarget">) =>
  queryOptions({
    queryKey: scope.key("gateway", "worktrees", loop.id, isActive(loop.status)),
    queryFn: async ({ signal }) => {
      const operation = loopChanges(loop.id, {});
      const { data } = await request(scope, loop.computeTarget?.id, operation, signal);
      return data.repositories.map(({ name, worktree }) => ({ name, worktree }));
    },
    enabled: !isWaiting(loop.status),
    // The worktree of a loop is created after its start.
    refetchInterval: (query) =>
      isActive(loop.status) && !query.state.data?.some(({ worktree }) => worktree !== null)
        ? unlessMissing(PREPARING_POLL_MS)(query)
        : false,
    retry: false,
  });

/** A worktree that can be deployed, and the machine that has it. */
export interface DeployTarget {
  machine: string | undefined;
  /** Name of the repository. */
  name: string;
  worktree: TicketWorktree;
  /** Path of the worktree. */
  path: string;
}

const deployKey = (scope: Scope, { machine, path }: DeployTarget, part: string) =>
  scope.key("gateway", "deploy", machine, path, part);

export const statusQuery = (scope: Scope, target: DeployTarget) =>
  queryOptions({
    queryKey: deployKey(scope, target, "status"),
    queryFn: ({ signal }) =>
      request(scope, target.machine, deployStatus(target.worktree, target.path), signal),
    refetchInterval: ({ state: { data } }) =>
      pollInterval(data?.data, data?.relayedBy !== undefined),
    retry: false,
  });

/**
 * The commands that a deployment will run; null if they are not known before.
 *
 * Detects them in the worktree, as the gateway does: a detection in the clone would replace settings of the user.
 */
export const commandsQuery = (scope: Scope, target: DeployTarget) =>
  queryOptions({
    queryKey: deployKey(scope, target, "commands"),
    queryFn: async ({ signal }): Promise<DeployCommands | null> => {
      const send = async <Result>(operation: Operation<Result>) =>
        (await request(scope, target.machine, operation, signal)).data;
      const { repos } = await send(repositories);
      const stored = repos.find(({ fullName }) => fullName === target.name)?.deployment;
      const commands = storedCommands(stored);
      if (commands) return commands;
      return detectedCommands(await send(detectDeployment(target.path)), stored) ?? null;
    },
    retry: false,
  });

/** Sends a change of a deployment to its machine, then reads the deployment. */
function useDeployChange<Result>(
  target: DeployTarget,
  operation: Operation<Result>,
  check: (result: Result) => void = () => undefined,
) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async () => {
      const { signal } = new AbortController();
      check((await request(scope, target.machine, operation, signal)).data);
    },
    // Also after a failure: the response of a change that was carried out may be lost.
    onSettled: () =>
      Promise.all(
        ["status", "commands"].map((part) =>
          client.invalidateQueries({ queryKey: deployKey(scope, target, part) }),
        ),
      ),
  });
}

export const useStart = (target: DeployTarget) =>
  useDeployChange(target, startDeployment(target.worktree, target.path));

export const useStop = (target: DeployTarget) =>
  useDeployChange(target, stopDeployment(target.worktree, target.path), ({ success, error }) => {
    if (!success) throw new Error(error ?? "The server is still running.");
  });
