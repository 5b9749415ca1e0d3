import { systemClock, type Clock } from '#src/plugin/index.js';

/** Clock with a time of the test's own, and timers that run. */
export function clockAt(now: () => number): Clock {
  return { ...systemClock, now };
}
