import { createStore, useStore } from './store.js';

const visible = createStore(!document.hidden);

document.addEventListener('visibilitychange', () => visible.set(!document.hidden));

/** Whether the tab is seen: a hidden one asks for nothing. */
export function useVisible(): boolean {
  return useStore(visible);
}
