/** The main pages of an organization, in the order of the navigation. */
import { CirclePlus, Inbox, ListTree } from "lucide-react";

export const DESTINATIONS = [
  { to: "/$orgSlug/inbox", label: "Needs you", keys: "g i", Icon: Inbox, hasCount: true },
  { to: "/$orgSlug/work", label: "Work", keys: "g w", Icon: ListTree, hasCount: false },
  { to: "/$orgSlug/new", label: "New", keys: "g n", Icon: CirclePlus, hasCount: false },
] as const;

/** The page that the shortcut `c` opens. */
export const NEW_REQUEST = "/$orgSlug/new";

/** The settings pages, in the order of their tabs. */
export const SETTINGS = [
  { to: "/$orgSlug/settings/profile", label: "Profile" },
  { to: "/$orgSlug/settings/members", label: "Members" },
  { to: "/$orgSlug/settings/organization", label: "Organization" },
  { to: "/$orgSlug/settings/machine", label: "This machine" },
  { to: "/$orgSlug/settings/desktops", label: "Machines" },
  { to: "/$orgSlug/settings/repositories", label: "Repositories" },
  { to: "/$orgSlug/settings/learnings", label: "Learnings" },
  { to: "/$orgSlug/settings/agents", label: "Agents" },
  { to: "/$orgSlug/settings/keys", label: "API keys" },
  { to: "/$orgSlug/settings/signing", label: "Command signing" },
  { to: "/$orgSlug/settings/usage", label: "Usage" },
  { to: "/$orgSlug/settings/audit-log", label: "Audit log" },
] as const;
