/** The control of a stage for what is due there. It has the attribute `data-due`. */

const DUE = "[role=tabpanel] [data-due]";
// A stage that is displayed for the first time loads its code and its content.
const WAIT_MS = 10_000;

/** Moves the focus to the control, or to the stage without one. */
export function focusDue(): void {
  const control = document.querySelector<HTMLElement>(DUE);
  const target = control ?? document.querySelector<HTMLElement>("[role=tabpanel]");
  target?.scrollIntoView({ block: control ? "center" : "start" });
  target?.focus({ preventScroll: true });
}

/** Moves the focus to the control once the stage that has been opened displays it. */
export function focusDueWhenDisplayed(): void {
  if (document.querySelector(DUE)) {
    focusDue();
    return;
  }
  const observer = new MutationObserver(() => {
    if (!document.querySelector(DUE)) return;
    observer.disconnect();
    focusDue();
  });
  observer.observe(document.body, { subtree: true, childList: true });
  setTimeout(() => observer.disconnect(), WAIT_MS);
}
