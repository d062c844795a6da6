/**
 * Menu of an entry: start again with changes, snooze, mark as unread, archive, delete. A chunk of its own: see
 * entry-menu.tsx.
 */
import { Link, useParams } from "@tanstack/react-router";
import { DropdownMenu } from "radix-ui";

import { useConnection } from "@/api/connection";
import { MENU_CLASS, MENU_ITEM_CLASS } from "@/ui/menu";

import { entryActions } from "../model/entry-actions";
import type { EntryMenuProps } from "./entry-menu";
import { EntryMenuButton } from "./entry-menu-button";

export function EntryMenuContent({
  request,
  mayDelete,
  onChange,
  isSelected = false,
  onToggle,
}: EntryMenuProps) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const { isLost } = useConnection();
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <EntryMenuButton title={request.document.title} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={MENU_CLASS}>
          <DropdownMenu.Item asChild className={MENU_ITEM_CLASS}>
            <Link to="/$orgSlug/new" params={{ orgSlug }} search={{ from: request.document.slug }}>
              Again with changes
            </Link>
          </DropdownMenu.Item>
          {onToggle && (
            <DropdownMenu.Item className={MENU_ITEM_CLASS} onSelect={onToggle}>
              {isSelected ? "Remove from the selection" : "Select"}
            </DropdownMenu.Item>
          )}
          {isLost && (
            <DropdownMenu.Label className="px-2 py-1 text-sm text-ink-3">
              Loopgate is not responding.
            </DropdownMenu.Label>
          )}
          {entryActions(request, mayDelete, new Date()).map(({ label, change }) => (
            <DropdownMenu.Item
              key={label}
              className={MENU_ITEM_CLASS}
              disabled={isLost}
              onSelect={() => onChange(change)}
            >
              {label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
