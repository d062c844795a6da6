/** Changes of entries in a list, and the undo of the last one. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ChangeRequest } from "@/api/types";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";

import { type Undo, undoOf } from "../model/undo";
import { type EntryChange, useChangeEntry } from "../queries";

export type EntryActions = ReturnType<typeof useEntryActions>;

export function useEntryActions() {
  const entry = useChangeEntry();
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const [undo, setUndo] = useState<Undo>();
  return {
    entry,
    undo,
    apply: (request: ChangeRequest, change: EntryChange) =>
      entry.mutate(
        { slug: request.document.slug, change },
        { onSuccess: () => setUndo(undoOf(request, change)) },
      ),
    revert: (undo: Undo) => entry.mutate(undo, { onSuccess: () => setUndo(undefined) }),
    mayDelete: ({ document }: ChangeRequest) =>
      document.userId === me.id || me.role === "org:admin",
  };
}

/** Says what the last change was, with its undo. */
export function UndoBar({ actions: { entry, undo, revert } }: { actions: EntryActions }) {
  return (
    <>
      <div role="status">
        {undo && (
          <div className="flex flex-wrap items-center gap-3 border-b border-line bg-sunken px-4 py-2 text-sm">
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {undo.text}
            </span>
            <Button size="sm" busy={entry.isPending} onClick={() => revert(undo)}>
              Undo
            </Button>
          </div>
        )}
      </div>
      {entry.error && <ActionError title="The change could not be saved" error={entry.error} />}
    </>
  );
}
