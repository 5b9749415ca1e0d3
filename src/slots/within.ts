import type { SetTimer } from './timers.js';

/** Resolves with the promise, or after a timeout of `ms`; rejects if the promise does first. */
export function within(promise: Promise<void>, ms: number, setTimer: SetTimer): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = setTimer(resolve, ms);
    promise.finally(cancel).then(resolve, reject);
  });
}
