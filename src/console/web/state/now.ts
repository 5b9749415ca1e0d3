import { useEffect, useState } from 'preact/hooks';
import { useVisible } from './visible.js';

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
