/** Shows a notification of the browser for each new item, and withdraws it when the item is settled. */
import type { AttentionItem } from "./attention";

export interface NotifierOptions {
  /** Returns whether the person sees a page of the app. */
  isAnyTabVisible: () => Promise<boolean>;
  open: (item: AttentionItem) => void;
}

export class AttentionNotifier {
  readonly #options: NotifierOptions;
  readonly #shown = new Map<string, Notification>();
  // Undefined until the items are known: those that exist when the page is opened are not new.
  #pending: Set<string> | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** `mayShow`: whether this tab is the one that notifies. */
  update(items: AttentionItem[], mayShow: boolean): void {
    const earlier = this.#pending;
    const pending = new Set(items.map(({ id }) => id));
    this.#pending = pending;
    for (const [id, notification] of this.#shown) {
      if (pending.has(id)) continue;
      notification.close();
      this.#shown.delete(id);
    }
    if (!mayShow || !earlier) return;
    for (const item of items) if (!earlier.has(item.id)) void this.#show(item);
  }

  async #show(item: AttentionItem): Promise<void> {
    if (await this.#options.isAnyTabVisible()) return;
    // Settled while the tabs were checked.
    if (!this.#pending?.has(item.id)) return;
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
    this.#shown.set(item.id, notification);
  }
}
