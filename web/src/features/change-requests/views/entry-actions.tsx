/** Changes of entries in a list or on a page, and the undo of the last one. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ChangeRequest } from "@/api/types";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";

import type { EntryChange } from "../model/entry-actions";
import { type Undo, undoOf } from "../model/undo";
import { useChangeEntries } from "../queries";

export type EntryActions = ReturnType<typeof useEntryActions>;

export function useEntryActions() {
  const entries = useChangeEntries();
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const [undo, setUndo] = useState<Undo>();
  return {
    isPending: entries.isPending,
    error: entries.error ?? entries.data?.error,
    undo,
    /** `onChanged` is called when at least one has been changed. */
    apply: (requests: readonly ChangeRequest[], change: EntryChange, onChanged?: () => void) =>
      entries.mutate(
        requests.map(({ document }) => ({ slug: document.slug, change })),
        {
          onSuccess: ({ slugs }) => {
            const changed = requests.filter(({ document }) => slugs.includes(document.slug));
            setUndo(undoOf(changed, change));
            onChanged?.();
          },
        },
      ),
    revert: ({ changes }: Undo) => entries.mutate(changes, { onSuccess: () => setUndo(undefined) }),
    mayDelete: ({ document }: Pick<ChangeRequest, "document">) =>
      document.userId === me.id || me.role === "org:admin",
  };
}

/** Says what the last change was, with its undo. */
export function UndoBar({
  actions: { isPending, error, undo, revert },
}: {
  actions: EntryActions;
}) {
  return (
    <>
      <div role="status">
        {undo && (
          <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-raised px-4 py-2 text-sm shadow-raised">
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {undo.text}
            </span>
            <Button size="sm" busy={isPending} onClick={() => revert(undo)}>
              Undo
            </Button>
          </div>
        )}
      </div>
      {error !== undefined && error !== null && (
        <ActionError title="The change could not be saved" error={error} />
      )}
    </>
  );
}
