/** Search for pages, settings, change requests, repositories and actions: opened with Ctrl+K. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { type LinkProps, useNavigate, useParams } from "@tanstack/react-router";
import { Command, defaultFilter } from "cmdk";
import {
  Building2,
  CirclePlus,
  FolderGit2,
  Hand,
  Keyboard,
  LogOut,
  type LucideIcon,
  MonitorCheck,
  Repeat2,
  Settings,
  SunMoon,
  Zap,
} from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useState } from "react";

import { unwrap } from "@/api/client";
import { useConnection } from "@/api/connection";
import { messageOf } from "@/api/errors";
import { type Scope, useScope } from "@/api/scope";
import { StateBadge } from "@/features/change-requests/views/state-badge";
import { repositoriesQuery } from "@/features/new-change-request/queries";
import { useAvailableActions } from "@/ui/page-actions";
import { useReturnFocus } from "@/ui/return-focus";
import { setTheme } from "@/ui/theme";
import { useDelayed } from "@/ui/use-delayed";

import { DESTINATIONS, NEW_REQUEST, SETTINGS } from "./destinations";
import { THEMES } from "./more-menu";
import { organizationsQuery, useSignOut, useSwitchOrganization } from "./queries";

const SEARCH_DELAY_MS = 200;
const RESULTS = 8;

const requestSearchQuery = ({ api, key }: Scope, text: string) =>
  queryOptions({
    queryKey: key("change-requests", "search", text),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/change-requests", { params: { query: { text, limit: RESULTS } }, signal })),
    enabled: text !== "",
    placeholderData: keepPreviousData,
  });

/** Finds change requests on the server for a text, once the person has stopped typing. */
function useRequestSearch(typed: string) {
  const text = useDelayed(typed.trim(), SEARCH_DELAY_MS);
  const { data, error, isFetching } = useQuery(requestSearchQuery(useScope(), text));
  const isCurrent = text === typed.trim() && !isFetching;
  return { requests: text === "" ? [] : (data ?? []), error, isSearching: !isCurrent };
}

// Values of entries that the server has found, also by texts that are not displayed.
const FOUND = "found/";

/** The score of an entry. What the server has found follows what the palette contains. */
const score: typeof defaultFilter = (value, search, keywords) =>
  value.startsWith(FOUND) ? Number.MIN_VALUE : defaultFilter(value, search, keywords);

/** `onShortcuts` opens the list of shortcuts. */
export function Palette({
  onClose,
  onShortcuts,
}: {
  onClose: () => void;
  onShortcuts: () => void;
}) {
  const [typed, setTyped] = useState("");
  const search = useRequestSearch(typed);
  const returnFocus = useReturnFocus();
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed inset-x-4 top-[8vh] z-50 mx-auto max-w-xl animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-raised"
        >
          <Dialog.Title className="sr-only">Search and actions</Dialog.Title>
          <Command label="Search and actions" filter={score} loop>
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              maxLength={200}
              placeholder="Search pages, change requests and actions"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
            />
            <Command.List className="max-h-[min(26rem,60vh)] overflow-y-auto p-1.5 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3">
              <Command.Empty className="px-2 py-6 text-center text-ink-2">
                {search.isSearching ? "Searching…" : "No results."}
              </Command.Empty>
              <OnThisPage onClose={onClose} />
              <Pages onClose={onClose} />
              <Actions onClose={onClose} onShortcuts={onShortcuts} />
              <Repositories onClose={onClose} />
              <SettingsPages onClose={onClose} />
              <Requests search={search} onClose={onClose} />
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Entry({
  value,
  Icon,
  disabled = false,
  onSelect,
  children,
}: {
  value: string;
  Icon?: LucideIcon;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      disabled={disabled}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-sm px-2 py-1 data-[disabled=true]:opacity-55 data-[selected=true]:bg-accent-soft [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-3"
    >
      {Icon && <Icon aria-hidden />}
      {children}
    </Command.Item>
  );
}

/** Returns a function that closes the palette and opens a page. */
function useOpen(onClose: () => void): (link: Pick<LinkProps, "to" | "params" | "search">) => void {
  const navigate = useNavigate();
  return (link) => {
    onClose();
    void navigate(link);
  };
}

function Requests({
  search: { requests, error },
  onClose,
}: {
  search: ReturnType<typeof useRequestSearch>;
  onClose: () => void;
}) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const open = useOpen(onClose);
  if (error) {
    return (
      <p role="alert" className="px-2 py-1 text-bad">
        Cannot search change requests. {messageOf(error)}
      </p>
    );
  }
  if (requests.length === 0) return null;
  return (
    <Command.Group heading="Change requests">
      {requests.map((request) => (
        <Entry
          key={request.document.id}
          value={`${FOUND}${request.document.id}`}
          onSelect={() =>
            open({
              to: "/$orgSlug/work/$slug",
              params: { orgSlug, slug: request.document.slug },
            })
          }
        >
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {request.document.title}
          </span>
          <StateBadge request={request} />
        </Entry>
      ))}
    </Command.Group>
  );
}

/** Actions of the page, for example of the open change request. */
function OnThisPage({ onClose }: { onClose: () => void }) {
  const actions = useAvailableActions();
  const { isLost } = useConnection();
  if (actions.length === 0) return null;
  return (
    <Command.Group heading={isLost ? "On this page: Loopgate is not responding" : "On this page"}>
      {actions.map(({ label, run }) => (
        <Entry
          key={label}
          value={label}
          Icon={Zap}
          disabled={isLost}
          onSelect={() => {
            onClose();
            run();
          }}
        >
          {label}
        </Entry>
      ))}
    </Command.Group>
  );
}

function Pages({ onClose }: { onClose: () => void }) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const open = useOpen(onClose);
  return (
    <Command.Group heading="Pages">
      {DESTINATIONS.map(({ to, label, Icon }) => (
        <Entry
          key={to}
          value={label}
          Icon={Icon}
          onSelect={() => open({ to, params: { orgSlug } })}
        >
          {label}
        </Entry>
      ))}
      <Entry
        value="Approvals"
        Icon={Hand}
        onSelect={() => open({ to: "/$orgSlug/approvals", params: { orgSlug } })}
      >
        Approvals
      </Entry>
      <Entry
        value="Loops"
        Icon={Repeat2}
        onSelect={() => open({ to: "/$orgSlug/loops", params: { orgSlug } })}
      >
        Loops
      </Entry>
    </Command.Group>
  );
}

function SettingsPages({ onClose }: { onClose: () => void }) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const open = useOpen(onClose);
  return (
    <Command.Group heading="Settings">
      {SETTINGS.map(({ to, label }) => (
        <Entry
          key={to}
          value={`Settings: ${label}`}
          Icon={Settings}
          onSelect={() => open({ to, params: { orgSlug } })}
        >
          Settings: {label}
        </Entry>
      ))}
    </Command.Group>
  );
}

function Actions({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const { data: organizations = [] } = useQuery(organizationsQuery(useScope()));
  const switchTo = useSwitchOrganization();
  const signOut = useSignOut();
  const open = useOpen(onClose);
  return (
    <Command.Group heading="Actions">
      <Entry
        value="New change request"
        Icon={CirclePlus}
        onSelect={() => open({ to: NEW_REQUEST, params: { orgSlug } })}
      >
        New change request
      </Entry>
      <Entry
        value="Check this machine"
        Icon={MonitorCheck}
        onSelect={() => open({ to: "/$orgSlug/settings/machine", params: { orgSlug } })}
      >
        Check this machine
      </Entry>
      {THEMES.map(({ choice, label }) => (
        <Entry
          key={choice}
          value={`Theme: ${label}`}
          Icon={SunMoon}
          onSelect={() => {
            onClose();
            setTheme(choice);
          }}
        >
          Theme: {label}
        </Entry>
      ))}
      {organizations
        .filter(({ slug }) => slug !== orgSlug)
        .map(({ slug, name }) => (
          <Entry
            key={slug}
            value={`Switch to organization ${name} ${slug}`}
            Icon={Building2}
            onSelect={() => {
              onClose();
              switchTo.mutate(slug);
            }}
          >
            <span>
              Switch to organization <bdi>{name}</bdi>
            </span>
          </Entry>
        ))}
      <Entry value="Keyboard shortcuts" Icon={Keyboard} onSelect={onShortcuts}>
        Keyboard shortcuts
      </Entry>
      <Entry value="Sign out" Icon={LogOut} onSelect={() => signOut.mutate()}>
        Sign out
      </Entry>
      {signOut.error && (
        <p role="alert" className="px-2 py-1 text-sm text-bad">
          You are still signed in. {messageOf(signOut.error)}
        </p>
      )}
    </Command.Group>
  );
}

/** Repositories of the machine. An entry lists the work in one. */
function Repositories({ onClose }: { onClose: () => void }) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const { data: repositories = [] } = useQuery(repositoriesQuery(useScope()));
  const open = useOpen(onClose);
  if (repositories.length === 0) return null;
  return (
    <Command.Group heading="Repositories">
      {repositories.map(({ fullName }) => (
        <Entry
          key={fullName}
          value={`Repository ${fullName}`}
          Icon={FolderGit2}
          onSelect={() =>
            open({ to: "/$orgSlug/work", params: { orgSlug }, search: { q: `repo:${fullName}` } })
          }
        >
          <bdi>{fullName}</bdi>
        </Entry>
      ))}
    </Command.Group>
  );
}
