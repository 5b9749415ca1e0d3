import { createStore } from './store.js';

/** Keys issued in this tab, by id, for the snippets of the Connect page; lost when the tab closes. */
export const issuedKeys = createStore<ReadonlyMap<string, string>>(new Map());

export function rememberKey(id: string, key: string): void {
  issuedKeys.set(new Map([...issuedKeys.get(), [id, key]]));
}
