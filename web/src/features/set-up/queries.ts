/**
 * The check of what loops need on a machine: run by the gateway of this machine, else by an online desktop through the
 * control plane, else the check that a desktop has stored.
 */
import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { computeTargetsQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";
import { healthCheck, repositories } from "@/gateway/operations";
import { request } from "@/gateway/request";

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
      try {
        return await liveCheck(scope, signal);
      } catch (error) {
        const check = await storedDesktopCheck(scope, signal).catch(() => undefined);
        if (check) return check;
        // The error of the local gateway is the one the user can act on.
        throw error;
      }
    },
    staleTime: 30_000,
    retry: false,
  });

/** Runs the check on this machine, else on the first desktop that is online. */
async function liveCheck(scope: Scope, signal: AbortSignal): Promise<MachineCheck> {
  const [report, listed] = await Promise.all([
    request(scope, undefined, healthCheck, signal),
    request(scope, undefined, repositories, signal),
  ]);
  return {
    ...(report.relayedBy && { desktop: report.relayedBy.machineName }),
    checkedAt: new Date().toISOString(),
    rows: toRows(report.data.checks, listed.data.repos),
  };
}

/** Returns the stored check of the first online desktop, or of the first one. `undefined` without a check. */
async function storedDesktopCheck(
  scope: Scope,
  signal: AbortSignal,
): Promise<MachineCheck | undefined> {
  const targets = await queryClient.query(computeTargetsQuery(scope));
  const target = targets.find(({ isOnline }) => isOnline) ?? targets[0];
  const check = target && (await storedCheck(scope, target, signal));
  return check && { ...check, desktop: target.machineName };
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
