import type { KeyboardEvent } from "react";

/** Returns whether a key press in a text field submits its form: Ctrl+Enter or Command+Enter, once while it is held down. */
export const isSubmitKey = (event: KeyboardEvent): boolean =>
  event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
