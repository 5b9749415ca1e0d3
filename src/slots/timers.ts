/** Runs `callback` once, `ms` from now at the latest that timers reach; what it returns cancels it. */
export type SetTimer = (callback: () => void, ms: number) => () => void;

/** A timer that does not keep the process alive. */
export const setUnrefTimer: SetTimer = (callback, ms) => {
  const timer = setTimeout(callback, Math.min(ms, longestDelayMs));
  timer.unref();
  return () => clearTimeout(timer);
};

/** Node fires at once what is further away than this. */
const longestDelayMs = 2 ** 31 - 1;
