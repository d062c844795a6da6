/**
 * Shortcuts of a list: `j` and `k` move the focus to the next and previous item, `o` opens it, `/` focuses the search.
 *
 * Items are links or buttons with the attribute `data-list-item`, in the order of the document. Virtualized lists work,
 * because the focus scrolls an item into view and the list then renders the items around it.
 */
import { useShortcut } from "./shortcuts";

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-list-item]")];

const focused = (): HTMLElement | undefined =>
  items().find((item) => item === document.activeElement);

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
