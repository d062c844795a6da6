/** Shows a notification of the browser for each new item, and withdraws it when the item is settled. */
import type { Attention, AttentionItem } from "./attention";

export interface NotifierOptions {
  /** Returns whether the person sees a page of the app. */
  isAnyTabVisible: () => Promise<boolean>;
  open: (item: AttentionItem) => void;
}

export class AttentionNotifier {
  readonly #options: NotifierOptions;
  readonly #shown = new Map<AttentionItem, Notification>();
  // Undefined until the items are known: those that exist when the page is opened are not new.
  #latest: Pick<Attention, "items" | "end"> | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** `mayShow`: whether this tab is the one that notifies. */
  update(attention: Pick<Attention, "items" | "end">, mayShow: boolean): void {
    const earlier = this.#latest;
    this.#latest = attention;
    for (const [item, notification] of this.#shown) {
      if (mayContain(attention, item)) continue;
      notification.close();
      this.#shown.delete(item);
    }
    if (!mayShow || !earlier) return;
    for (const item of attention.items) if (!mayContain(earlier, item)) void this.#show(item);
  }

  async #show(item: AttentionItem): Promise<void> {
    if (await this.#options.isAnyTabVisible()) return;
    // Settled while the tabs were checked.
    if (!this.#latest || !mayContain(this.#latest, item)) return;
    const notification = new Notification(item.title, {
      body: item.request,
      icon: "/favicon.svg",
      tag: item.id,
    });
    notification.onclick = () => {
      window.focus();
      notification.close();
      this.#options.open(item);
    };
    this.#shown.set(item, notification);
  }
}

/** Returns whether an item is listed, or may be one of those after the end of the list. */
function mayContain(
  { items, end }: Pick<Attention, "items" | "end">,
  { id, position }: AttentionItem,
): boolean {
  const isAfterEnd = end !== undefined && position !== undefined && position.changedAt <= end;
  return isAfterEnd || items.some((item) => item.id === id);
}
