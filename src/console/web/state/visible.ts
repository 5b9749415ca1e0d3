import { createStore, useStore } from './store.js';
import { useEffect, useState } from 'preact/hooks';

const visible = createStore(!document.hidden);

document.addEventListener('visibilitychange', () => visible.set(!document.hidden));

/** True while the tab is visible: a hidden tab sends no requests. */
export function useVisible(): boolean {
  return useStore(visible);
}

/** Current time, updated every second while the tab is visible. */
export function useNow(): number {
  const isVisible = useVisible();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isVisible) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isVisible]);
  return now;
}
