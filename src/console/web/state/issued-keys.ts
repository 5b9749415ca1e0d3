import { createStore } from './store.js';

/** The keys issued in this tab, by id, for the snippets of the Connect page. Gone with the tab. */
export const issuedKeys = createStore<ReadonlyMap<string, string>>(new Map());

export function rememberKey(id: string, key: string): void {
  issuedKeys.set(new Map([...issuedKeys.get(), [id, key]]));
}
