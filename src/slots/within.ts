import type { SetTimer } from './timers.js';

/** Resolves with the promise, or without it after `ms`; rejects as it does. */
export function within(promise: Promise<void>, ms: number, setTimer: SetTimer): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = setTimer(resolve, ms);
    promise.finally(cancel).then(resolve, reject);
  });
}
