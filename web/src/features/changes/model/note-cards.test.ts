import { beforeEach, expect, test } from "vitest";

import { NoteCards } from "./note-cards";

let cards: NoteCards;
let region: HTMLElement;

beforeEach(() => {
  document.body.replaceChildren();
  region = document.body.appendChild(document.createElement("div"));
  region.tabIndex = -1;
  cards = new NoteCards();
  cards.region(region);
});

/** Adds a file with a place for a card, as the viewer does. `isDisplayed`: whether the lines of the file have a slot for it. */
function fileWithPlace(isDisplayed = true) {
  const file = region.appendChild(document.createElement("div"));
  const lines = file.attachShadow({ mode: "open" });
  const slot = document.createElement("slot");
  slot.name = "line 1";
  if (isDisplayed) lines.append(slot);
  const wrapper = file.appendChild(document.createElement("div"));
  wrapper.slot = "line 1";
  const place = wrapper.appendChild(document.createElement("div"));
  return { file, place, slot };
}

/** Places a card with a focused field. */
function focusedCard(place: HTMLElement): HTMLElement {
  cards.place("a", place);
  const field = cards.elementOf("a").appendChild(document.createElement("textarea"));
  field.focus();
  expect(document.activeElement).toBe(field);
  return field;
}

test("card with the focus keeps it until the viewer has another place for it", () => {
  const earlier = fileWithPlace();
  const field = focusedCard(earlier.place);
  cards.onRendered(earlier.file, true);
  earlier.file.remove();
  cards.remove("a", earlier.place);
  expect(cards.isOffscreen("a")).toBe(true);
  // The viewer focuses its region when it has removed an element with the focus.
  region.focus();
  expect(document.activeElement).toBe(field);

  const later = fileWithPlace();
  cards.place("a", later.place);
  expect(later.place.contains(field)).toBe(true);
  expect(document.activeElement).toBe(field);
  expect(cards.snapshot()).toEqual(new Set(["a"]));
});

test("card with the focus whose line is no longer displayed keeps it", () => {
  const { file, place, slot } = fileWithPlace();
  const field = focusedCard(place);
  slot.remove();
  cards.onRendered(file, false);
  expect(cards.isOffscreen("a")).toBe(true);
  expect(document.activeElement).toBe(field);
  file.shadowRoot?.append(slot);
  cards.onRendered(file, false);
  expect(place.contains(field)).toBe(true);
  expect(document.activeElement).toBe(field);
});

test("card without the focus is rendered as long as it has a place", () => {
  const { file, place } = fileWithPlace(false);
  cards.place("a", place);
  expect(cards.elementOf("a").parentElement).toBe(place);
  cards.onRendered(file, true);
  cards.remove("a", place);
  expect(cards.snapshot()).toEqual(new Set());
  // The viewer takes the focus of other elements that it removes.
  region.focus();
  expect(document.activeElement).toBe(region);
});

test("card that gets another place before it leaves the earlier one remains", () => {
  const earlier = fileWithPlace();
  const later = fileWithPlace();
  cards.place("a", earlier.place);
  cards.place("a", later.place);
  cards.remove("a", earlier.place);
  expect(cards.elementOf("a").parentElement).toBe(later.place);
  expect(cards.snapshot()).toEqual(new Set(["a"]));
});

test("card that loses the focus while it has no place is no longer rendered", () => {
  const { file, place } = fileWithPlace();
  const field = focusedCard(place);
  const button = cards.elementOf("a").appendChild(document.createElement("button"));
  cards.onRendered(file, true);
  file.remove();
  cards.remove("a", place);
  button.focus();
  expect(cards.snapshot()).toEqual(new Set(["a"]));
  field.focus();
  field.blur();
  expect(cards.snapshot()).toEqual(new Set());
});
