import { useState } from "react";

/** Returns the handler that returns the focus when a dialog closes that has no trigger, such as one opened by a key. */
export function useReturnFocus(): (event: Event) => void {
  const [opener] = useState(() => document.activeElement);
  return (event) => {
    event.preventDefault();
    if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  };
}
