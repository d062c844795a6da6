/**
 * Elements of the cards of notes. The diff viewer removes the places of cards and creates others when files are loaded,
 * scrolled or highlighted. Each card is rendered into an element of its own, which moves from place to place, so that the
 * focus, the caret and a press in it are kept.
 */
import { Store } from "@/model/store";

/** Its value contains the ids of the cards that are rendered. */
export class NoteCards extends Store<ReadonlySet<string>> {
  readonly #elements = new Map<string, HTMLElement>();
  /** Places that the viewer has now. */
  readonly #places = new Map<string, HTMLElement>();
  /** Contains the card with the focus while the viewer does not display its place. */
  readonly #offscreen = document.createElement("div");

  constructor() {
    super(new Set());
    // In the scrolled region, so that its keys still scroll it, and rendered, because a hidden element loses the focus.
    this.#offscreen.className = "sticky top-0 h-0 overflow-clip";
    this.#offscreen.addEventListener("focusout", ({ relatedTarget }) => {
      // The document still has an active element when another window gets the focus.
      const isKept = [relatedTarget, document.activeElement].some(
        (next) => next instanceof Node && this.#offscreen.contains(next),
      );
      if (!isKept) this.#release();
    });
  }

  /** Ref of the scrolled region of the viewer. */
  readonly region = (region: HTMLElement | null): void => {
    if (!region) return;
    region.prepend(this.#offscreen);
    // The viewer moves the focus to its region after it has removed the focused element, although the card has been moved.
    region.focus = (options) => {
      const active = document.activeElement;
      if (active === region || !region.contains(active))
        HTMLElement.prototype.focus.call(region, options);
    };
  };

  /** Returns the element into which a card is rendered. */
  elementOf(id: string): HTMLElement {
    let element = this.#elements.get(id);
    if (!element) {
      element = document.createElement("div");
      element.className = "contents";
      this.#elements.set(id, element);
    }
    return element;
  }

  isOffscreen(id: string): boolean {
    return this.elementOf(id).parentElement === this.#offscreen;
  }

  /** Called when the viewer has created a place for a card. */
  place(id: string, place: HTMLElement): void {
    this.#places.set(id, place);
    this.#settle(id, place);
    if (!this.snapshot().has(id)) this.set(new Set(this.snapshot()).add(id));
  }

  /** Called before the place of a card is removed. */
  remove(id: string, place: HTMLElement): void {
    // The card may have got another place.
    if (this.#places.get(id) !== place) return;
    this.#places.delete(id);
    const element = this.elementOf(id);
    if (hasFocus(element)) move(element, this.#offscreen);
    else this.#drop(id);
  }

  /** Called when the viewer has rendered the element of a file, or is about to remove it. */
  onRendered(file: HTMLElement, isRemoved: boolean): void {
    for (const [id, place] of this.#places)
      if (file.contains(place)) {
        if (!isRemoved) this.#settle(id, place);
        else if (hasFocus(this.elementOf(id))) move(this.elementOf(id), this.#offscreen);
      }
  }

  /** Moves a card to its place unless it would lose the focus there. */
  #settle(id: string, place: HTMLElement): void {
    const element = this.elementOf(id);
    // Within a long file, the viewer displays only the places that are near the visible part.
    const isDisplayed = place.closest("[slot]")?.assignedSlot != null;
    move(element, isDisplayed || !hasFocus(element) ? place : this.#offscreen);
  }

  /** Removes the cards that have lost the focus. */
  #release(): void {
    for (const [id, element] of this.#elements)
      if (element.parentElement === this.#offscreen) {
        const place = this.#places.get(id);
        if (place) move(element, place);
        else this.#drop(id);
      }
  }

  #drop(id: string): void {
    const rendered = new Set(this.snapshot());
    rendered.delete(id);
    this.set(rendered);
  }
}

const hasFocus = (element: HTMLElement): boolean => element.contains(document.activeElement);

/** Newer than TypeScript's types, and than some browsers. */
type MovingParent = HTMLElement & { moveBefore?: (node: Node, child: Node | null) => void };

/** Moves an element with its focus. */
function move(element: HTMLElement, parent: MovingParent): void {
  if (element.parentElement === parent) return;
  if (parent.moveBefore && element.isConnected && parent.isConnected) {
    parent.moveBefore(element, null);
    return;
  }
  const focused = hasFocus(element) ? document.activeElement : null;
  parent.append(element);
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}
