/** Classes of the content and the items of a drop-down menu. */
export const MENU_CLASS =
  "z-30 min-w-52 animate-rise rounded-lg border border-line bg-raised p-1.5 shadow-raised";
export const MENU_ITEM_CLASS =
  "flex h-8 items-center gap-2.5 rounded-sm px-2 outline-none select-none data-disabled:opacity-55 data-highlighted:bg-accent-soft";
