import { createStore } from './store.js';

/** Number of times that the operator has asked for fresh data; every resource of the page is loaded again. */
export const refreshes = createStore(0);

export function refresh(): void {
  refreshes.set(refreshes.get() + 1);
}
