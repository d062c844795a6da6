/**
 * Access to the gateway of a machine: directly if it is this machine, else as a command through the control plane.
 */
import { computeTargetsQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";

import { readLines } from "./lines";
import { GatewayError, type GatewayProblem, type LocalGateway } from "./local-gateway";
import type { Operation } from "./operations";
import { relay, relayEvents } from "./relay";
import { gatewayOf } from "./this-machine";

export interface GatewayResult<Result> {
  data: Result;
  /** The desktop that responded through the control plane; `undefined` for this machine. */
  relayedBy: ComputeTarget | undefined;
}

/**
 * Sends an operation to a machine: the desktop with the id `machine`. Without one, this machine, else the first desktop
 * that is online.
 */
export const request = <Result>(
  scope: Scope,
  machine: string | undefined,
  operation: Operation<Result>,
  signal: AbortSignal,
): Promise<GatewayResult<Result>> =>
  reach(scope, machine, signal, {
    direct: (gateway, gatewayId) => gateway.request(operation, signal, gatewayId),
    command: (targetId) => relay(scope, targetId, operation, signal),
  });

/** Like `request`, for an operation whose response is a stream. Yields its events. */
export async function* follow<Event>(
  scope: Scope,
  machine: string | undefined,
  operation: Operation<Event>,
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  const { data } = await reach(scope, machine, signal, {
    direct: async (gateway, gatewayId) =>
      readLines<Event>(await gateway.open(operation, signal, gatewayId)),
    command: (targetId) => Promise.resolve(relayEvents(scope, targetId, operation, signal)),
  });
  yield* data;
}

interface Ways<Result> {
  direct: (gateway: LocalGateway, gatewayId: string | undefined) => Promise<Result>;
  command: (targetId: string) => Promise<Result>;
}

async function reach<Result>(
  scope: Scope,
  machine: string | undefined,
  signal: AbortSignal,
  { direct, command }: Ways<Result>,
): Promise<GatewayResult<Result>> {
  const targets = async () => queryClient.query(computeTargetsQuery(scope));
  const named = machine ? (await targets()).find(({ id }) => id === machine) : undefined;
  if (machine && !named) throw new Error("This machine is no longer part of the organization.");
  try {
    // A desktop without a known gateway is not this machine.
    const isRemote = named !== undefined && !named.gatewayId;
    if (isRemote) throw new GatewayError("absent", "That machine has reported no gateway.");
    const data = await direct(gatewayOf(scope), named?.gatewayId ?? undefined);
    return { data, relayedBy: undefined };
  } catch (error) {
    // The gateway of the right machine has responded: a command would have the same result. A change that may have been
    // made is not repeated.
    const isFinal = (problem: GatewayProblem) =>
      problem === "unknown" || (named !== undefined && problem === "failed");
    if (error instanceof GatewayError && isFinal(error.problem)) throw error;
    const target = named ?? (await targets()).find(({ isOnline }) => isOnline);
    if (!target || signal.aborted) throw error;
    if (!target.isOnline) throw new OfflineMachineError(target);
    try {
      return { data: await command(target.id), relayedBy: target };
    } catch (relayError) {
      // Of this machine's own error and that of another machine, the user can act on the first.
      throw named ? relayError : error;
    }
  }
}

/** The machine is not connected to the control plane. */
export class OfflineMachineError extends Error {
  override readonly name = "OfflineMachineError";
  readonly machine: ComputeTarget;

  constructor(machine: ComputeTarget) {
    super(`${machine.machineName} is offline. Start Loopgate there with \u201cloopgate up\u201d.`);
    this.machine = machine;
  }
}
