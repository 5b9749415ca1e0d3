import type { Clock } from './clock.js';
import type { CallSignal } from '../call-signal.js';

/** Timeout error of `within`. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * Applies a timeout with a short grace period, in which replies received during a pause of the process are read: the
 * result of `work`, or a LateError with this message after `ms`. Without `setTimer` it keeps the process alive.
 */
export async function within<Result>(
  work: Promise<Result>,
  ms: number,
  message: string,
  setTimer: Clock['setTimer'] = setHoldingTimer,
): Promise<Result> {
  let cancel: (() => void) | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new LateError(message));
    cancel = setTimer(() => (cancel = setTimer(giveUp, graceMs)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel?.();
  }
}

/** Timer of the process, which stays alive for it. */
const setHoldingTimer: Clock['setTimer'] = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

const graceMs = 50;

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
