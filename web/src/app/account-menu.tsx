import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { Check, LogOut, Monitor, Moon, Settings, Sun } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { messageOf } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Me } from "@/api/types";
import { setTheme, type ThemeChoice, useThemeChoice } from "@/ui/theme";

import { useSignOut } from "./queries";

const THEMES = [
  { choice: "system", label: "System", Icon: Monitor },
  { choice: "light", label: "Light", Icon: Sun },
  { choice: "dark", label: "Dark", Icon: Moon },
] as const;

const ITEM =
  "flex h-8 items-center gap-2.5 rounded-sm px-2 outline-none select-none data-highlighted:bg-accent-soft [&_svg]:size-4 [&_svg]:text-ink-3";

/** Account menu: the signed-in user, theme, settings and sign-out. */
export function AccountMenu() {
  const scope = useScope();
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const theme = useThemeChoice();
  const signOut = useSignOut();
  const router = useRouter();
  const leave = () => {
    const { href } = router.state.location;
    signOut.mutate(undefined, {
      onSuccess: () => void router.navigate({ to: "/signed-out", search: { returnTo: href } }),
    });
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        aria-label={`Account of ${fullName(me)}`}
        className="ml-1 grid size-7.5 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
      >
        {initials(me)}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          className="z-30 w-60 animate-rise rounded-lg border border-line bg-raised p-1.5 shadow-raised"
        >
          <div className="px-2 pt-1.5 pb-2.5">
            <p className="truncate font-medium">{fullName(me)}</p>
            <p className="truncate text-xs text-ink-3">{me.email}</p>
          </div>
          <DropdownMenu.Separator className="-mx-1.5 my-1 h-px bg-line" />
          <DropdownMenu.RadioGroup
            value={theme}
            onValueChange={(value) => setTheme(value as ThemeChoice)}
          >
            <DropdownMenu.Label className="px-2 py-1 text-xs font-medium text-ink-3">
              Theme
            </DropdownMenu.Label>
            {THEMES.map(({ choice, label, Icon }) => (
              <DropdownMenu.RadioItem key={choice} value={choice} className={ITEM}>
                <Icon aria-hidden />
                <span className="flex-1">{label}</span>
                <DropdownMenu.ItemIndicator>
                  <Check aria-hidden className="!text-accent" />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator className="-mx-1.5 my-1 h-px bg-line" />
          <DropdownMenu.Item asChild className={ITEM}>
            <Link to="/$orgSlug/settings" params={{ orgSlug: me.organization.slug }}>
              <Settings aria-hidden />
              Settings
            </Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item
            className={ITEM}
            disabled={signOut.isPending}
            onSelect={(event) => {
              // The menu stays open, because it shows an error.
              event.preventDefault();
              leave();
            }}
          >
            <LogOut aria-hidden />
            Sign out
          </DropdownMenu.Item>
          {signOut.error && (
            <p role="alert" className="px-2 py-1 text-sm text-bad">
              You are still signed in. {messageOf(signOut.error)}
            </p>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function fullName(me: Me): string {
  return [me.firstName, me.lastName].filter(Boolean).join(" ") || me.email;
}

function initials(me: Me): string {
  const letters = [me.firstName, me.lastName].map((name) => name?.charAt(0) ?? "").join("");
  return (letters || me.email.charAt(0)).toUpperCase();
}
