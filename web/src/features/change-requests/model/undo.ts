/** What a user can undo: what to say, and the changes that revert it. */
import type { ChangeRequest } from "@/api/types";

import type { EntryChange } from "./entry-actions";

/** Changes of entries, by the slugs of their change requests. */
export type EntryChanges = readonly { slug: string; change: EntryChange }[];

export interface Undo {
  text: string;
  changes: EntryChanges;
}

type Entry = Pick<ChangeRequest, "document" | "isUnread">;

/** Returns how to undo a change of entries. Undefined for a change that needs none. */
export function undoOf(requests: readonly Entry[], change: EntryChange): Undo | undefined {
  const [first] = requests;
  if (!first) return undefined;
  const names =
    requests.length === 1 ? `“${first.document.title}”` : `${requests.length} change requests`;
  const undo = (text: string, revert: (request: Entry) => EntryChange): Undo => ({
    text,
    changes: requests.map((request) => ({
      slug: request.document.slug,
      change: revert(request),
    })),
  });
  switch (change.kind) {
    case "archive": {
      const text = change.archived ? `Archived ${names}.` : `Returned ${names} to the list.`;
      return undo(text, () => ({ kind: "archive", archived: !change.archived }));
    }
    case "delete":
      return undo(`Deleted ${names}. This can be undone for an hour.`, () => ({ kind: "restore" }));
    case "mark":
      // One mark is undone in the menu as well.
      return change.snoozedUntil === undefined && requests.length === 1
        ? undefined
        : undo(
            change.snoozedUntil === undefined
              ? `Marked ${names} as ${change.seen ? "read" : "unread"}.`
              : `Snoozed ${names}.`,
            ({ isUnread }) => ({ kind: "mark", seen: !isUnread }),
          );
    case "restore":
      return undefined;
  }
}
