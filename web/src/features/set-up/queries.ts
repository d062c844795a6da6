/**
 * The check of what loops need on a machine: run by the gateway of this machine, else by an online desktop through the
 * control plane, else the check that a desktop has stored.
 */
import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { computeTargetsQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ComputeTarget, GatewayCheckReport, GatewayRepos } from "@/api/types";
import { relayGet } from "@/gateway/relay";
import { gatewayOf } from "@/gateway/this-machine";

import { type CheckRow, toRows } from "./model/rows";

export interface MachineCheck {
  /** Name of the desktop that was checked. Absent for this machine. */
  desktop?: string;
  /** ISO 8601. */
  checkedAt: string;
  rows: CheckRow[];
}

export const machineCheckQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key("gateway", "health-check"),
    queryFn: async ({ signal }): Promise<MachineCheck> => {
      const gateway = gatewayOf(scope);
      try {
        return checkedNow(
          await Promise.all([gateway.healthCheck(signal), gateway.repositories(signal)]),
        );
      } catch (error) {
        const check = await desktopCheck(scope, signal).catch(() => undefined);
        if (check) return check;
        // The error of the local gateway is the one the user can act on.
        throw error;
      }
    },
    staleTime: 30_000,
    retry: false,
  });

const checkedNow = ([{ checks }, repos]: [
  GatewayCheckReport,
  GatewayRepos["repos"],
]): MachineCheck => ({ checkedAt: new Date().toISOString(), rows: toRows(checks, repos) });

/** Returns the check of the first online desktop, or of the first one. `undefined` without a check. */
async function desktopCheck(scope: Scope, signal: AbortSignal): Promise<MachineCheck | undefined> {
  const targets = await queryClient.query(computeTargetsQuery(scope));
  const target = targets.find(({ isOnline }) => isOnline) ?? targets[0];
  if (!target) return undefined;
  // A shared desktop refuses commands of members unless its owner allows them.
  const live = target.isOnline
    ? await relayedCheck(scope, target.id, signal).catch(() => undefined)
    : undefined;
  const check = live ?? (await storedCheck(scope, target, signal));
  return check && { ...check, desktop: target.machineName };
}

async function relayedCheck(scope: Scope, id: string, signal: AbortSignal): Promise<MachineCheck> {
  const [report, repos] = await Promise.all([
    relayGet(scope, id, "health_check", "/api/gateway/health-check", signal),
    relayGet(scope, id, "repos_config", "/api/gateway/repos", signal),
  ]);
  return checkedNow([report as GatewayCheckReport, (repos as GatewayRepos).repos]);
}

async function storedCheck(
  { api }: Scope,
  { id }: ComputeTarget,
  signal: AbortSignal,
): Promise<MachineCheck | undefined> {
  const stored = await unwrap(
    api.GET("/compute-targets/{id}/health-check", { params: { path: { id } }, signal }),
  );
  return stored ? { checkedAt: stored.checkedAt, rows: toRows(stored.result.checks) } : undefined;
}
