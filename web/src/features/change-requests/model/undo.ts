/** What a user can undo in a list: what to say, and the change that reverts it. */
import type { ChangeRequest } from "@/api/types";

import type { EntryChange } from "../queries";

export interface Undo {
  text: string;
  slug: string;
  change: EntryChange;
}

/** Returns how to undo a change. Undefined for a change that needs none. */
export function undoOf({ document }: ChangeRequest, change: EntryChange): Undo | undefined {
  const { slug, title } = document;
  switch (change.kind) {
    case "archive": {
      const text = change.archived ? `Archived “${title}”.` : `“${title}” is back in the list.`;
      return { text, slug, change: { kind: "archive", archived: !change.archived } };
    }
    case "delete":
      return {
        text: `Deleted “${title}”. This can be undone for an hour.`,
        slug,
        change: { kind: "restore" },
      };
    case "mark":
      return change.snoozedUntil === undefined
        ? undefined
        : { text: `Snoozed “${title}”.`, slug, change: { kind: "mark", seen: false } };
    case "restore":
      return undefined;
  }
}
