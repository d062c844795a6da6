/** Menu of an entry in a list: snooze, mark as unread, archive. */
import { MoreHorizontal } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import type { ChangeRequest } from "@/api/types";
import { Button } from "@/ui/button";
import { MENU_CLASS, MENU_ITEM_CLASS } from "@/ui/menu";

import type { EntryChange } from "../queries";

const HOUR_MS = 60 * 60 * 1000;

/** Returns the time tomorrow at nine. */
function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

export function EntryMenu({
  request,
  onChange,
}: {
  request: ChangeRequest;
  onChange: (change: EntryChange) => void;
}) {
  const { title } = request.document;
  const isArchived = request.archivedAt != null;
  const snooze = (until: Date) =>
    onChange({ kind: "mark", seen: true, snoozedUntil: until.toISOString() });
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button variant="quiet" size="icon" aria-label={`Actions for ${title}`}>
          <MoreHorizontal aria-hidden />
        </Button>
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
          <Item onSelect={() => onChange({ kind: "archive", archived: !isArchived })}>
            {isArchived ? "Return to the list" : "Archive"}
          </Item>
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
