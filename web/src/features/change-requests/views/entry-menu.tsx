/** Menu of an entry. Its code is not part of the first page, which shows a disabled button until then. */
import { Suspense, useDeferredValue } from "react";

import type { ChangeRequest } from "@/api/types";
import { lazyView } from "@/ui/lazy-view";

import type { EntryChange } from "../model/entry-actions";
import { EntryMenuButton } from "./entry-menu-button";

export interface EntryMenuProps {
  request: ChangeRequest;
  mayDelete: boolean;
  onChange: (change: EntryChange) => void;
  isSelected?: boolean;
  /** Selects the entry, or removes it from the selection. Absent outside of lists. */
  onToggle?: () => void;
}

const Content = lazyView(() => import("./entry-menu-content"), "EntryMenuContent");

export function EntryMenu(props: EntryMenuProps) {
  // The entry is displayed before the code is requested.
  const isDisplayed = useDeferredValue(true, false);
  const button = <EntryMenuButton title={props.request.document.title} disabled />;
  if (!isDisplayed) return button;
  return (
    <Suspense fallback={button}>
      <Content {...props} />
    </Suspense>
  );
}
