import { useEffect, useState } from 'preact/hooks';

/** A value that several components share. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

export function createStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value of a store; the component is rendered again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(() => store.get());
  useEffect(() => {
    const read = () => setValue(() => store.get());
    read(); // it may have changed since the first render
    return store.subscribe(read);
  }, [store]);
  return value;
}
