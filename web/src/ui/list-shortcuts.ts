/**
 * Shortcuts of a list: `j` and `k` move the focus to the next and previous item, `o` opens it, `/` focuses the search; `x`
 * selects it.
 *
 * Items are links or buttons with the attribute `data-list-item`, in the order of the document. Virtualized lists work,
 * because the focus scrolls an item into view and the list then renders the items around it.
 */
import { useShortcut } from "./shortcuts";

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-list-item]")];

const rowOf = (item: HTMLElement): Element => item.closest("[role=listitem], [role=row]") ?? item;

/** Returns the item that has the focus, or whose row contains it. */
const focused = (): HTMLElement | undefined =>
  items().find((item) => rowOf(item).contains(document.activeElement));

function move(step: 1 | -1): void {
  const all = items();
  const current = focused();
  const next = current ? all[all.indexOf(current) + step] : all[0];
  next?.focus();
}

const searchField = (): HTMLElement | null =>
  document.querySelector<HTMLElement>("main input[type=search]");

/** `noun`: what the items are, in the plural. */
export function useListShortcuts(noun: string): void {
  useShortcut({ keys: "j", label: "Next item", where: "page" }, () => move(1));
  useShortcut({ keys: "k", label: "Previous item", where: "page" }, () => move(-1));
  useShortcut({ keys: "o", label: "Open the item", where: "page" }, () => focused()?.click());
  useShortcut({ keys: "/", label: `Search ${noun}`, where: "page" }, () => searchField()?.focus());
}

const checkbox = (item: HTMLElement): HTMLElement | null =>
  rowOf(item).querySelector<HTMLElement>("[role=checkbox]");

/** Shortcuts of a list whose rows have a checkbox. `clear` is undefined without selected items. */
export function useSelectShortcuts(clear: (() => void) | undefined): void {
  useShortcut({ keys: "x", label: "Select the item", where: "page" }, () => {
    const item = focused();
    if (item) checkbox(item)?.click();
  });
  useShortcut({ keys: "Escape", label: "Clear the selection", where: "page" }, clear);
}
