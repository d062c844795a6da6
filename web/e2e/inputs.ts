/** The ways in which a person operates the app: with a mouse, with the keyboard alone, and by touch. */
import { expect, type Locator, type Page } from "@playwright/test";

import { expectAccessible, expectNoHorizontalScroll } from "./quality";

export interface Input {
  /** Uses a button, link, tab, choice or menu item. */
  press: (control: Locator) => Promise<void>;
  /** Uses a button twice in quick succession. */
  pressTwice: (control: Locator) => Promise<void>;
  /** Replaces the text of a field. */
  type: (field: Locator, text: string) => Promise<void>;
  /** Opens a comment on a passage of the plan. `text`: the beginning of the passage, or a part without markup. */
  commentOnPassage: (page: Page, text: string) => Promise<void>;
  openNew: (page: Page) => Promise<void>;
  /** Opens a page of the main navigation. */
  visit: (page: Page, name: "Work" | "Needs you") => Promise<void>;
  /** Checks the accessibility or the width of the page. */
  check: (page: Page) => Promise<void>;
}

const navigation = (page: Page) => page.getByRole("navigation", { name: "Main" });

export const mouse: Input = {
  press: (control) => control.click(),
  pressTwice: (control) => control.dblclick(),
  type: async (field, text) => {
    // Leaving the field before may change this one.
    await field.click();
    await field.fill(text);
  },
  commentOnPassage: async (page, text) => {
    await page.getByText(text).first().click({ clickCount: 3 });
    const selected = page.getByRole("toolbar", { name: "Selected passage" });
    await selected.getByRole("button", { name: "Comment" }).click();
  },
  openNew: (page) => navigation(page).getByRole("link", { name: "New" }).click(),
  visit: (page, name) => navigation(page).getByRole("link", { name }).click(),
  check: expectAccessible,
};

const passageAction = (page: Page, text: string) =>
  page
    .getByRole("toolbar", { name: "Comment on a passage" })
    .getByRole("button", { name: text })
    .first();

/** Returns the center of the part of a control that is in the window, unless something covers it. */
function uncoveredPoint(element: Element): { x: number; y: number } | undefined {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
  const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
  return element.contains(document.elementFromPoint(x, y)) ? { x, y } : undefined;
}

// More than the controls of any page, and than the items of any group.
const MAX_TABS = 150;
const MAX_ARROWS = 60;

/** Moves the focus with Tab, and within tabs, choices, toolbars and menus with the arrow keys. */
async function focus(control: Locator): Promise<void> {
  await expect(control).toBeVisible();
  const { keyboard } = control.page();
  const isFocused = (element: Element) => element === document.activeElement;
  const isGroupFocused = (element: Element) => {
    const { activeElement: focused } = document;
    if (focused instanceof HTMLInputElement && element instanceof HTMLInputElement)
      return focused === element || (focused.type === "radio" && focused.name === element.name);
    const group = element.closest("[role=tablist], [role=toolbar], [role=menu]");
    return focused === element || (group?.contains(focused) ?? false);
  };
  const isVertical = (element: Element) =>
    element.closest("[aria-orientation=vertical], [role=menu]") !== null;
  const isBefore = (element: Element) =>
    document.activeElement?.compareDocumentPosition(element) === Node.DOCUMENT_POSITION_PRECEDING;
  const tab = (await control.evaluate(isBefore)) ? "Shift+Tab" : "Tab";
  for (let step = 0; step < MAX_TABS && !(await control.evaluate(isGroupFocused)); step += 1)
    await keyboard.press(tab);
  const arrow = (await control.evaluate(isVertical)) ? "ArrowDown" : "ArrowRight";
  for (let step = 0; step < MAX_ARROWS && !(await control.evaluate(isFocused)); step += 1)
    await keyboard.press(arrow);
  await expect(control, "reachable by keyboard").toBeFocused();
  await expect.poll(() => control.evaluate(uncoveredPoint), "focus is visible").toBeDefined();
}

export const keyboard: Input = {
  press: async (control) => {
    await focus(control);
    const type = await control.getAttribute("type");
    const isChoice = type === "radio" || type === "checkbox";
    await control.page().keyboard.press(isChoice ? "Space" : "Enter");
  },
  pressTwice: async (control) => {
    await focus(control);
    const { keyboard } = control.page();
    await Promise.all([keyboard.press("Enter"), keyboard.press("Enter")]);
  },
  type: async (field, text) => {
    await focus(field);
    const { keyboard } = field.page();
    await keyboard.press("Control+a");
    await keyboard.type(text);
  },
  commentOnPassage: (page, text) => keyboard.press(passageAction(page, text)),
  openNew: (page) => page.keyboard.press("c"),
  visit: async (page, name) => {
    await page.keyboard.press("g");
    await page.keyboard.press(name === "Work" ? "w" : "i");
  },
  check: () => Promise.resolve(),
};

/** Scrolls until nothing covers a control, as swipes do, and returns where it is touched. */
async function reveal(control: Locator): Promise<{ x: number; y: number }> {
  await expect(control).toBeEnabled();
  const scroll = (element: Element) => element.scrollIntoView({ block: "center" });
  const point = () => control.evaluate(uncoveredPoint);
  const isReached = async () => {
    if (await point()) return true;
    await control.evaluate(scroll);
    return false;
  };
  await expect.poll(isReached, "reachable by touch").toBe(true);
  const reached = await point();
  if (!reached) throw new Error("the control is covered again");
  return reached;
}

export const touch: Input = {
  press: async (control) => {
    const { x, y } = await reveal(control);
    await control.page().touchscreen.tap(x, y);
  },
  pressTwice: async (control) => {
    const { x, y } = await reveal(control);
    const { touchscreen } = control.page();
    await Promise.all([touchscreen.tap(x, y), touchscreen.tap(x, y)]);
  },
  type: async (field, text) => {
    await touch.press(field);
    await expect(field).toBeFocused();
    await field.fill(text);
  },
  commentOnPassage: async (page, text) => {
    await touch.press(page.getByText(text).first());
    const action = passageAction(page, text);
    await expect(action).toHaveCSS("opacity", "1");
    await touch.press(action);
  },
  openNew: (page) => touch.press(navigation(page).getByRole("link", { name: "New" })),
  visit: (page, name) => touch.press(navigation(page).getByRole("link", { name })),
  check: expectNoHorizontalScroll,
};
