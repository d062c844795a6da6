import { type PointerEventHandler, useEffect, useState } from "react";

/** On touch screens, the click is a later event than the release. */
const CLICK_MS = 100;

/** Without selects, which open when they are pressed: not all browsers report the release. */
const CONTROLS = "button, a, label, summary, input";

/**
 * Returns the value that an area displays, and the handler for its presses: while a control of the area is pressed, the
 * value is that of before. Otherwise a new value could move the control from under the pointer, and the press would have
 * no effect.
 */
export function useHeldWhilePressed<Value>(value: Value): [Value, PointerEventHandler] {
  const [held, setHeld] = useState<{ value: Value }>();
  useEffect(() => {
    if (!held) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const release = () => {
      timer ??= setTimeout(() => setHeld(undefined), CLICK_MS);
    };
    window.addEventListener("pointerup", release);
    window.addEventListener("pointercancel", release);
    return () => {
      window.removeEventListener("pointerup", release);
      window.removeEventListener("pointercancel", release);
      clearTimeout(timer);
    };
  }, [held]);
  const displayed = held ? held.value : value;
  return [
    displayed,
    ({ button, target }) => {
      // Not a press of a scroll bar or for a context menu, whose release browsers do not report either.
      if (button === 0 && target instanceof Element && target.closest(CONTROLS))
        setHeld({ value: displayed });
    },
  ];
}
