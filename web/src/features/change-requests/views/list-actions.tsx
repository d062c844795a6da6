/** Actions on the entries of a list, one by one or for a selection. */
import { Suspense, useState } from "react";

import type { ChangeRequest } from "@/api/types";
import { lazyView } from "@/ui/lazy-view";
import { useSelectShortcuts } from "@/ui/list-shortcuts";

import { UndoBar, useEntryActions } from "./entry-actions";

// Not part of the first page.
const SelectionBar = lazyView(() => import("./selection-bar"), "SelectionBar");

export type ListActions = ReturnType<typeof useListActions>;

/** `list`: what the list contains. Another one has no selected entries. */
export function useListActions(list: string) {
  const actions = useEntryActions();
  const [state, setState] = useState({ list, selected: [] as readonly ChangeRequest[] });
  const selected = state.list === list ? state.selected : [];
  const isSelected = ({ document }: ChangeRequest) =>
    selected.some((other) => other.document.id === document.id);
  const select = (next: readonly ChangeRequest[]) => setState({ list, selected: next });
  const clear = () => select([]);
  useSelectShortcuts(selected.length > 0 ? clear : undefined);
  return {
    ...actions,
    selected,
    isSelected,
    clear,
    toggle: (request: ChangeRequest) =>
      select(
        isSelected(request)
          ? selected.filter(({ document }) => document.id !== request.document.id)
          : [...selected, request],
      ),
  };
}

/** What was changed last, with its undo, and the actions for all selected entries: in view wherever the list is scrolled. */
export function ListBars({ actions }: { actions: ListActions }) {
  return (
    <div className="sticky bottom-[calc(var(--navigation)+0.75rem)] z-20 mt-4 space-y-2">
      <UndoBar actions={actions} />
      {actions.selected.length > 0 && (
        <Suspense>
          <SelectionBar actions={actions} />
        </Suspense>
      )}
    </div>
  );
}
