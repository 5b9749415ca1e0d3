import { createStore, useStore } from './store.js';

const visible = createStore(!document.hidden);

document.addEventListener('visibilitychange', () => visible.set(!document.hidden));

/** True while the tab is visible: a hidden tab sends no requests. */
export function useVisible(): boolean {
  return useStore(visible);
}
