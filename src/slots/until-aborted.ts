import type { CallSignal } from '../plugin/index.js';

/**
 * Settles as the promise, or rejects with the signal's reason if that aborts first. Does not cancel the work
 * behind the promise.
 */
export function untilAborted<Value>(promise: Promise<Value>, signal: CallSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(asError(signal.reason));
    const stopListening = (): void => signal.removeEventListener('abort', leave);
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    promise.finally(stopListening).then(resolve, reject);
  });
}

/** Converts the reason of an abort signal, which can be anything, to an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The caller has left.', { cause: reason });
}
