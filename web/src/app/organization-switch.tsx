import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";

import { organizationsQuery, useSelectOrganization } from "./queries";

/** Name of the organization, or a menu if the user belongs to several. */
export function OrganizationSwitch({ orgSlug }: { orgSlug: string }) {
  const scope = useScope();
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const organizations = useQuery(organizationsQuery(scope));
  const select = useSelectOrganization();
  const navigate = useNavigate();
  const all = organizations.data ?? [];
  const shown = all.find(({ slug }) => slug === orgSlug)?.name;
  const name = shown ?? (me.organization.slug === orgSlug ? me.organization.name : orgSlug);
  if (all.length < 2) {
    return <span className="hidden max-w-48 truncate text-ink-2 sm:inline">{name}</span>;
  }
  const choose = (slug: string) => {
    if (slug === orgSlug) return;
    select.mutate(slug, {
      onSettled: () => void navigate({ to: "/$orgSlug/loops", params: { orgSlug: slug } }),
    });
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        aria-label={`Organization ${name}`}
        className="flex max-w-48 items-center gap-1 rounded-md px-1.5 py-1 text-ink-2 hover:bg-idle-soft hover:text-ink"
      >
        <span className="truncate">{name}</span>
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={6}
          className="z-30 w-60 animate-rise rounded-lg border border-line bg-raised p-1.5 shadow-raised"
        >
          <DropdownMenu.RadioGroup value={orgSlug} onValueChange={choose}>
            {all.map((organization) => (
              <DropdownMenu.RadioItem
                key={organization.id}
                value={organization.slug}
                className="flex h-8 items-center gap-2.5 rounded-sm px-2 outline-none select-none data-highlighted:bg-accent-soft"
              >
                <span className="flex-1 truncate">{organization.name}</span>
                <DropdownMenu.ItemIndicator>
                  <Check aria-hidden className="size-4 text-accent" />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
