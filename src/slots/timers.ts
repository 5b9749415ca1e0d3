/**
 * Runs `callback` once after `ms`, or after the max delay of timers if that is shorter; returns a cancel
 * function.
 */
export type SetTimer = (callback: () => void, ms: number) => () => void;

/** Timer that does not keep the process alive. */
export const setUnrefTimer: SetTimer = (callback, ms) => {
  const timer = setTimeout(callback, Math.min(ms, longestDelayMs));
  timer.unref();
  return () => clearTimeout(timer);
};

/** Max delay of Node's timers: a longer one fires at once. */
const longestDelayMs = 2 ** 31 - 1;
