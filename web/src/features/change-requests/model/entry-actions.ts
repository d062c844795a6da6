/** What a person can do with an entry: the actions of its menu, of the palette and of a selection. */
import type { ChangeRequest } from "@/api/types";

/** A change of the list entry of a change request. */
export type EntryChange =
  | { kind: "archive"; archived: boolean }
  | { kind: "mark"; seen: boolean; snoozedUntil?: string }
  | { kind: "delete" }
  | { kind: "restore" };

export interface EntryAction {
  label: string;
  change: EntryChange;
}

const HOUR_MS = 60 * 60 * 1000;

export const isSnoozed = (
  { snoozedUntil }: Pick<ChangeRequest, "snoozedUntil">,
  now: number,
): boolean => snoozedUntil != null && Date.parse(snoozedUntil) > now;

export const SHOW_NOW: EntryAction = { label: "Show now", change: { kind: "mark", seen: true } };

const snooze = (until: Date): EntryChange => ({
  kind: "mark",
  seen: true,
  snoozedUntil: until.toISOString(),
});

/** Returns the offered times of a snooze; the second is tomorrow at nine. */
export const snoozes = (now: Date): EntryAction[] => [
  { label: "Snooze for an hour", change: snooze(new Date(now.getTime() + HOUR_MS)) },
  {
    label: "Snooze until tomorrow",
    change: snooze(new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9)),
  },
];

export function entryActions(
  request: Pick<ChangeRequest, "attention" | "archivedAt" | "isUnread" | "snoozedUntil">,
  mayDelete: boolean,
  now: Date,
): EntryAction[] {
  const { attention, archivedAt, isUnread } = request;
  const isArchived = archivedAt != null;
  return [
    ...(attention
      ? [
          ...(isSnoozed(request, now.getTime()) ? [SHOW_NOW] : snoozes(now)),
          {
            label: isUnread ? "Mark as read" : "Mark as unread",
            change: { kind: "mark", seen: isUnread } as const,
          },
        ]
      : []),
    {
      label: isArchived ? "Return to the list" : "Archive",
      change: { kind: "archive", archived: !isArchived },
    },
    ...(mayDelete ? [{ label: "Delete", change: { kind: "delete" } as const }] : []),
  ];
}

type Listed = Pick<ChangeRequest, "attention" | "archivedAt">;

/** Returns the actions for selected entries, each with the entries that it concerns. */
export function selectionActions<Entry extends Listed>(
  selected: readonly Entry[],
  mayDelete: boolean,
  now: Date,
): (EntryAction & { requests: readonly Entry[] })[] {
  const waiting = selected.filter(({ attention }) => attention != null);
  const isArchived = selected.every(({ archivedAt }) => archivedAt != null);
  const actions: (EntryAction & { requests: readonly Entry[] })[] = [
    {
      label: isArchived ? "Return to the list" : "Archive",
      change: { kind: "archive", archived: !isArchived },
      requests: selected,
    },
    ...snoozes(now).map((action) => ({ ...action, requests: waiting })),
    { label: "Mark as unread", change: { kind: "mark", seen: false }, requests: waiting },
    { label: "Delete", change: { kind: "delete" }, requests: mayDelete ? selected : [] },
  ];
  return actions.filter(({ requests }) => requests.length > 0);
}
