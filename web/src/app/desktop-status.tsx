import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Popover } from "radix-ui";

import { useConnection } from "@/api/connection";
import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { ago } from "@/model/format";
import { buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { Code } from "@/ui/code";
import { cx } from "@/ui/cx";
import { OnlineDot } from "@/ui/online-dot";

/** Indicator of the online desktops, with a list of all desktops. */
export function DesktopStatus({ orgSlug }: { orgSlug: string }) {
  const scope = useScope();
  const { data, isError, failureCount } = useQuery(computeTargetsQuery(scope));
  const { isLost } = useConnection();
  // After a failed poll the cached status may be outdated.
  const unknown = isLost || isError || failureCount > 0;
  const targets = unknown ? undefined : data;
  const online = targets?.filter((target) => target.isOnline) ?? [];
  const now = useNow(30_000);
  const label = unknown
    ? "Status unknown"
    : targets === undefined
      ? "Loading desktops"
      : online.length === 0
        ? "No desktop online"
        : online.length === 1
          ? (online[0]?.machineName ?? "")
          : `${online.length} desktops online`;
  return (
    <Popover.Root>
      <Popover.Trigger
        className={cx(buttonClass("quiet", "sm"), "max-w-44")}
        aria-label={`Desktops: ${label}`}
      >
        <OnlineDot online={online.length > 0} />
        <span className="truncate max-sm:hidden">{label}</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          className="z-30 w-72 animate-rise rounded-lg border border-line bg-raised p-3.5 shadow-raised"
          aria-label="Desktops"
        >
          <h2 className="text-xs font-medium text-ink-3">Desktops</h2>
          {unknown ? (
            <p className="mt-1.5 text-sm text-ink-2">
              The control plane is not responding, so the status of the desktops is unknown.
              Retrying automatically.
            </p>
          ) : targets && targets.length > 0 ? (
            <ul className="mt-2 space-y-2.5">
              {targets.map((target) => (
                <li key={target.id} className="flex items-baseline gap-2.5">
                  <OnlineDot online={target.isOnline} />
                  <span className="min-w-0 flex-1 truncate font-medium">{target.machineName}</span>
                  <span className="text-xs text-ink-3">
                    {target.isOnline
                      ? "online"
                      : target.lastSeenAt
                        ? `last seen ${ago(target.lastSeenAt, now)}`
                        : "offline"}
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <p className="mt-1.5 text-sm text-ink-2">
              No desktop is registered. Run <Code>loopgate up</Code> on the machine that has your
              repositories, or{" "}
              <Link
                to="/$orgSlug/settings/desktops"
                params={{ orgSlug }}
                className="text-accent underline underline-offset-2"
              >
                connect one
              </Link>{" "}
              to this control plane.
            </p>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
