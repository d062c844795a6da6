/** A value outside of React. Components read it with `useSyncExternalStore`. */
export class Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly snapshot = (): Value => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected set(value: Value): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}
