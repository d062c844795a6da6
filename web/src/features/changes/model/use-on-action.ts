import { useEffect, useEffectEvent } from "react";

const ACTIONS = ["keydown", "pointerdown", "touchmove", "wheel"] as const;

/** Calls a function before the page handles an action of the person: a pressed key or pointer, or a scroll. */
export function useOnAction(handler: () => void): void {
  const onAction = useEffectEvent(handler);
  useEffect(() => {
    const listener = () => onAction();
    for (const action of ACTIONS)
      document.addEventListener(action, listener, { capture: true, passive: true });
    return () => {
      for (const action of ACTIONS)
        document.removeEventListener(action, listener, { capture: true });
    };
  }, []);
}
