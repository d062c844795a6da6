/** Main navigation: a rail on the left of wide screens, a bar at the bottom of a phone. */
import { Link, useLocation, useRouter } from "@tanstack/react-router";
import { Ellipsis, Search } from "lucide-react";
import { Popover } from "radix-ui";
import type { ComponentProps } from "react";

import { cx } from "@/ui/cx";
import { Mark } from "@/ui/mark";
import { OnlineDot } from "@/ui/online-dot";

import { DESTINATIONS } from "./destinations";
import { useMachineStatus } from "./machine-status";
import { MoreMenu } from "./more-menu";
import type { Overlay } from "./shell";

const ITEM = cx(
  "relative flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 rounded-md px-1 py-1.5 text-center text-2xs font-medium text-ink-2",
  "hover:bg-idle-soft hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-accent",
  "md:w-full md:flex-none md:py-2 [&_svg]:size-5",
);

export function Navigation({
  orgSlug,
  attentionCount,
  overlay,
  onOverlay,
}: {
  orgSlug: string;
  attentionCount: number;
  overlay: Overlay | undefined;
  onOverlay: (overlay: Overlay | undefined) => void;
}) {
  const current = useCurrentDestination(orgSlug);
  return (
    <nav
      aria-label="Main"
      className={cx(
        "fixed inset-x-0 bottom-0 z-30 flex gap-1 border-line bg-surface px-1.5 py-1 max-md:h-(--navigation) max-md:border-t max-md:pb-[max(0.25rem,env(safe-area-inset-bottom))]",
        "md:sticky md:top-0 md:h-dvh md:w-20 md:shrink-0 md:flex-col md:overflow-y-auto md:border-r md:px-2 md:py-3",
      )}
    >
      <Link
        to="/$orgSlug"
        params={{ orgSlug }}
        activeOptions={{ exact: true }}
        aria-label="Loopgate, start page"
        className="mx-auto mb-2 rounded-md p-1.5 text-accent max-md:hidden"
      >
        <Mark className="size-7" />
      </Link>
      {DESTINATIONS.map(({ to, label, Icon, hasCount }) => (
        <Link
          key={to}
          to={to}
          params={{ orgSlug }}
          activeOptions={{ exact: true }}
          aria-current={to === current ? "true" : undefined}
          className={ITEM}
        >
          <Icon aria-hidden />
          <span className="max-w-full truncate">{label}</span>
          {hasCount && attentionCount > 0 && <Count count={attentionCount} />}
        </Link>
      ))}
      <NavigationButton
        className="max-md:hidden"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => onOverlay("palette")}
      >
        <Search aria-hidden />
        Search
      </NavigationButton>
      <div className="flex-1 max-md:hidden" />
      <Popover.Root
        open={overlay === "more"}
        onOpenChange={(isOpen) => onOverlay(isOpen ? "more" : undefined)}
      >
        <Popover.Trigger asChild>
          <MoreButton />
        </Popover.Trigger>
        <MoreMenu orgSlug={orgSlug} onOverlay={onOverlay} />
      </Popover.Root>
    </nav>
  );
}

/** Opens the rest of the navigation. Shows whether a machine is online. */
function MoreButton(props: ComponentProps<"button">) {
  const { isAnyOnline, label } = useMachineStatus();
  return (
    <NavigationButton {...props} aria-label={`More. Machines: ${label}`}>
      <Ellipsis aria-hidden />
      <span className="flex max-w-full items-center gap-1">
        <OnlineDot online={isAnyOnline} />
        More
      </span>
    </NavigationButton>
  );
}

function NavigationButton({ className, ...rest }: ComponentProps<"button">) {
  return <button type="button" {...rest} className={cx(ITEM, className)} />;
}

function Count({ count }: { count: number }) {
  return (
    <span className="absolute top-0.5 left-1/2 ml-1.5 min-w-4.5 rounded-full border border-surface bg-warn px-1 text-2xs leading-4 font-semibold text-surface tabular-nums">
      <span className="sr-only">, </span>
      {count > 99 ? "99+" : count}
    </span>
  );
}

/** Returns the destination that contains the page, if any: the one with the longest address. */
function useCurrentDestination(orgSlug: string) {
  const router = useRouter();
  const pathname = useLocation({ select: (location) => location.pathname });
  const contains = (to: (typeof DESTINATIONS)[number]["to"]) => {
    const path = router.buildLocation({ to, params: { orgSlug } }).pathname;
    return pathname === path || pathname.startsWith(`${path}/`);
  };
  return DESTINATIONS.map(({ to }) => to)
    .filter(contains)
    .sort((a, b) => b.length - a.length)[0];
}
