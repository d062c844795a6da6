/** View state of the cards of comments and findings. Outside of the cards: the diff removes those that are out of view. */
import { createContext, use, useCallback, useSyncExternalStore } from "react";

import { Store } from "@/model/store";

/** The state of all cards of a diff, by keys. */
export class CardStateStore extends Store<ReadonlyMap<string, unknown>> {
  constructor() {
    super(new Map());
  }

  change(key: string, value: unknown): void {
    this.set(new Map(this.snapshot()).set(key, value));
  }
}

export const CardStates = createContext<CardStateStore | undefined>(undefined);

function useStore(): CardStateStore {
  const store = use(CardStates);
  if (!store) throw new Error("Cards are displayed in a diff only.");
  return store;
}

/** Like `useState`, for cards. `key` names the card and the state. */
export function useCardState<T>(key: string, initial: T): [T, (value: T) => void] {
  const store = useStore();
  const states = useSyncExternalStore(store.subscribe, store.snapshot);
  const change = useCallback((value: T) => store.change(key, value), [store, key]);
  return [states.has(key) ? (states.get(key) as T) : initial, change];
}

interface CardAction {
  isPending: boolean;
  error: Error | undefined;
  /** Carries an action out unless it is pending. `onDone` is called if it succeeds. */
  run: (action: () => Promise<unknown>, onDone?: () => void) => void;
}

const IDLE: Omit<CardAction, "run"> = { isPending: false, error: undefined };

/** An action of a card with its progress and its error. */
export function useCardAction(key: string): CardAction {
  const store = useStore();
  const [state, setState] = useCardState(key, IDLE);
  const run: CardAction["run"] = (action, onDone) => {
    // Not of the last render: the person may press twice before the next one.
    const current = store.snapshot().get(key) as typeof IDLE | undefined;
    if (current?.isPending) return;
    setState({ isPending: true, error: undefined });
    action().then(
      () => {
        setState(IDLE);
        onDone?.();
      },
      (failure: unknown) => {
        const error = failure instanceof Error ? failure : new Error(String(failure));
        setState({ isPending: false, error });
      },
    );
  };
  return { ...state, run };
}
