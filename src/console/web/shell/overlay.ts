import { createStore } from '../state/store.js';

/** Dialog of the shell that is open. */
export const overlay = createStore<'palette' | 'help' | undefined>(undefined);

export function closeOverlay(): void {
  overlay.set(undefined);
}
