/** The rest of the navigation: account, organization, machines, pages, theme and sign-out. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Keyboard, LogOut, Search } from "lucide-react";
import { Popover } from "radix-ui";
import { type ReactNode, useId } from "react";

import { messageOf } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Me } from "@/api/types";
import { cx } from "@/ui/cx";
import { setTheme, type ThemeChoice, useThemeChoice } from "@/ui/theme";

import { MachineList, useMachineStatus } from "./machine-status";
import { organizationsQuery, useSignOut, useSwitchOrganization } from "./queries";
import type { Overlay } from "./shell";

const PAGES = [
  { to: "/$orgSlug/approvals", label: "Approvals" },
  { to: "/$orgSlug/loops", label: "Loops" },
  { to: "/$orgSlug/settings/machine", label: "This machine" },
  { to: "/$orgSlug/settings", label: "Settings" },
] as const;

export const THEMES: readonly { choice: ThemeChoice; label: string }[] = [
  { choice: "system", label: "System" },
  { choice: "light", label: "Light" },
  { choice: "dark", label: "Dark" },
];

const ITEM =
  "flex min-h-8 w-full items-center gap-2.5 rounded-sm px-2 py-1 text-left hover:bg-accent-soft [&_svg]:size-4 [&_svg]:text-ink-3";

export function MoreMenu({
  orgSlug,
  onOverlay,
}: {
  orgSlug: string;
  onOverlay: (overlay: Overlay | undefined) => void;
}) {
  const machines = useMachineStatus();
  const close = () => onOverlay(undefined);
  return (
    <Popover.Portal>
      <Popover.Content
        side="top"
        align="end"
        sideOffset={8}
        collisionPadding={8}
        aria-label="More"
        className="z-40 max-h-(--radix-popover-content-available-height) w-72 max-w-[calc(100vw-1rem)] animate-rise divide-y divide-line overflow-y-auto rounded-lg border border-line bg-raised p-1.5 shadow-raised"
      >
        <ul className="pb-1.5">
          {PAGES.map(({ to, label }) => (
            <li key={to}>
              <Link to={to} params={{ orgSlug }} className={ITEM} onClick={close}>
                {label}
              </Link>
            </li>
          ))}
          <MenuButton onClick={() => onOverlay("palette")}>
            <Search aria-hidden />
            Search
          </MenuButton>
          <MenuButton onClick={() => onOverlay("shortcuts")}>
            <Keyboard aria-hidden />
            Keyboard shortcuts
          </MenuButton>
        </ul>
        <Group title="Machines">
          <div className="px-2 pb-1">
            <MachineList {...machines} />
          </div>
        </Group>
        <ThemeChoices />
        <Organizations orgSlug={orgSlug} onClose={close} />
        <Account />
      </Popover.Content>
    </Popover.Portal>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="py-1.5">
      <h2 id={id} className="px-2 py-1 text-xs font-medium text-ink-3">
        {title}
      </h2>
      {children}
    </section>
  );
}

function MenuButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <li>
      <button type="button" onClick={onClick} className={ITEM}>
        {children}
      </button>
    </li>
  );
}

function ThemeChoices() {
  const theme = useThemeChoice();
  return (
    <Group title="Theme">
      <div className="flex gap-1 px-1">
        {THEMES.map(({ choice, label }) => (
          <label
            key={choice}
            className="flex h-8 flex-1 cursor-pointer items-center justify-center rounded-sm border border-transparent hover:bg-sunken has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-focus"
          >
            <input
              type="radio"
              name="theme"
              className="sr-only"
              checked={theme === choice}
              onChange={() => setTheme(choice)}
            />
            {label}
          </label>
        ))}
      </div>
    </Group>
  );
}

/** The organizations of the person, if there are several. */
function Organizations({ orgSlug, onClose }: { orgSlug: string; onClose: () => void }) {
  const { data: organizations = [] } = useQuery(organizationsQuery(useScope()));
  const open = useSwitchOrganization();
  if (organizations.length < 2) return null;
  return (
    <Group title="Organization">
      <ul>
        {organizations.map(({ id, slug, name }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={slug === orgSlug ? "true" : undefined}
              className={cx(ITEM, "aria-[current]:font-medium")}
              onClick={() => {
                onClose();
                if (slug !== orgSlug) open.mutate(slug);
              }}
            >
              <span dir="auto" className="flex-1 truncate">
                {name}
              </span>
              {slug === orgSlug && <Check aria-hidden />}
            </button>
          </li>
        ))}
      </ul>
    </Group>
  );
}

function Account() {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const signOut = useSignOut();
  return (
    <section aria-label="Account" className="pt-1.5">
      <div className="px-2 py-1">
        <p dir="auto" className="truncate font-medium">
          {fullName(me)}
        </p>
        <p className="truncate text-xs text-ink-3">
          {me.email}, <bdi>{me.organization.name}</bdi>
        </p>
      </div>
      <button
        type="button"
        className={ITEM}
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        <LogOut aria-hidden />
        Sign out
      </button>
      {signOut.error && (
        <p role="alert" className="px-2 py-1 text-sm text-bad">
          You are still signed in. {messageOf(signOut.error)}
        </p>
      )}
    </section>
  );
}

const fullName = (me: Me): string =>
  [me.firstName, me.lastName].filter(Boolean).join(" ") || me.email;
