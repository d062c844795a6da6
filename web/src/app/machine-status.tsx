/** Which machines are online. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { useConnection } from "@/api/connection";
import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";
import { ago } from "@/model/format";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { OnlineDot } from "@/ui/online-dot";

export interface MachineStatus {
  /** Undefined while it is not known. */
  machines: ComputeTarget[] | undefined;
  isAnyOnline: boolean;
  label: string;
}

export function useMachineStatus(): MachineStatus {
  const { data, isError, failureCount } = useQuery(computeTargetsQuery(useScope()));
  const { isLost } = useConnection();
  // After a failed poll the cached status may be outdated.
  const isUnknown = isLost || isError || failureCount > 0;
  const machines = isUnknown ? undefined : data;
  const online = (machines ?? []).filter((machine) => machine.isOnline);
  const [first] = online;
  const label = isUnknown
    ? "Status unknown"
    : machines === undefined
      ? "Loading machines"
      : first === undefined
        ? "No machine online"
        : online.length === 1
          ? first.machineName
          : `${online.length} machines online`;
  return { machines, isAnyOnline: online.length > 0, label };
}

export function MachineList({ machines, label }: MachineStatus) {
  const { isLost } = useConnection();
  const now = useNow(30_000);
  if (machines === undefined) {
    return (
      <p className="text-sm text-ink-2">
        {isLost
          ? "The control plane is not responding, so the status of the machines is unknown. Retrying automatically."
          : label}
      </p>
    );
  }
  if (machines.length === 0) return <NoMachines />;
  return (
    <ul className="space-y-2">
      {machines.map((machine) => (
        <li key={machine.id} className="flex items-baseline gap-2.5">
          <OnlineDot online={machine.isOnline} />
          <span dir="auto" className="min-w-0 flex-1 truncate font-medium">
            {machine.machineName}
          </span>
          <span className="text-xs text-ink-3">
            {machine.isOnline
              ? "online"
              : machine.lastSeenAt
                ? `last seen ${ago(machine.lastSeenAt, now)}`
                : "offline"}
          </span>
        </li>
      ))}
    </ul>
  );
}

function NoMachines() {
  return (
    <p className="text-sm text-ink-2">
      No machine is registered. Run <Code>loopgate up</Code> on the machine that has your
      repositories, or{" "}
      <Link
        from="/$orgSlug"
        to="/$orgSlug/settings/desktops"
        className="text-accent underline underline-offset-2"
      >
        connect one
      </Link>{" "}
      to this control plane.
    </p>
  );
}
