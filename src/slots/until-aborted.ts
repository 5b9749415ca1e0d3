import type { CallSignal } from '../plugin/index.js';

/** The promise's outcome, or the signal's reason where that comes first; what was awaited goes on by itself. */
export function untilAborted<Value>(promise: Promise<Value>, signal: CallSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(asError(signal.reason));
    const stopListening = (): void => signal.removeEventListener('abort', leave);
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    promise.finally(stopListening).then(resolve, reject);
  });
}

/** An abort signal's reason can be anything. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The caller has left.', { cause: reason });
}
