/**
 * Menu of an entry in a list: snooze, mark as unread, start again with changes, archive, delete. A chunk of its own: see
 * entry-menu.tsx.
 */
import { Link, useParams } from "@tanstack/react-router";
import { DropdownMenu } from "radix-ui";

import { MENU_CLASS, MENU_ITEM_CLASS } from "@/ui/menu";

import type { EntryMenuProps } from "./entry-menu";
import { EntryMenuButton } from "./entry-menu-button";

const HOUR_MS = 60 * 60 * 1000;

/** Returns the time tomorrow at nine. */
function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

export function EntryMenuContent({ request, mayDelete = false, onChange }: EntryMenuProps) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const isArchived = request.archivedAt != null;
  const snooze = (until: Date) =>
    onChange({ kind: "mark", seen: true, snoozedUntil: until.toISOString() });
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <EntryMenuButton title={request.document.title} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={MENU_CLASS}>
          {request.attention && (
            <>
              <Item onSelect={() => snooze(new Date(Date.now() + HOUR_MS))}>
                Snooze for an hour
              </Item>
              <Item onSelect={() => snooze(tomorrow(new Date()))}>Snooze until tomorrow</Item>
              <Item onSelect={() => onChange({ kind: "mark", seen: request.isUnread })}>
                {request.isUnread ? "Mark as read" : "Mark as unread"}
              </Item>
            </>
          )}
          <DropdownMenu.Item asChild className={MENU_ITEM_CLASS}>
            <Link to="/$orgSlug/new" params={{ orgSlug }} search={{ from: request.document.slug }}>
              Again with changes
            </Link>
          </DropdownMenu.Item>
          <Item onSelect={() => onChange({ kind: "archive", archived: !isArchived })}>
            {isArchived ? "Return to the list" : "Archive"}
          </Item>
          {mayDelete && <Item onSelect={() => onChange({ kind: "delete" })}>Delete</Item>}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item({ onSelect, children }: { onSelect: () => void; children: string }) {
  return (
    <DropdownMenu.Item className={MENU_ITEM_CLASS} onSelect={onSelect}>
      {children}
    </DropdownMenu.Item>
  );
}
