/** Actions of the page that is displayed. Components register theirs while they are mounted; the palette lists them. */
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";

export interface PageAction {
  label: string;
  run: () => void;
}

let registered: readonly (readonly PageAction[])[] = [];
let available: readonly PageAction[] = [];
const listeners = new Set<() => void>();

function change(next: typeof registered): void {
  registered = next;
  available = next.flat();
  for (const listener of listeners) listener();
}

/** Offers actions while the component is mounted. Each label is one line. */
export function usePageActions(actions: readonly PageAction[]): void {
  const labels = actions.map(({ label }) => label).join("\n");
  const run = useEffectEvent((label: string) =>
    actions.find((action) => action.label === label)?.run(),
  );
  useEffect(() => {
    if (labels === "") return;
    const own = labels.split("\n").map((label) => ({ label, run: () => run(label) }));
    change([...registered, own]);
    return () => change(registered.filter((other) => other !== own));
  }, [labels]);
}

/** Returns the actions of the page, in the order of their registration. */
export const useAvailableActions = (): readonly PageAction[] =>
  useSyncExternalStore(subscribe, () => available);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
