import type { CallSignal } from '../call-signal.js';

/** Time and timers of a gateway: every limit on a request uses them. The functions need no `this`. */
export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds from a fixed point; never goes back. */
  readonly monotonicMs: () => number;
  /**
   * Runs `callback` once after `ms`, or after the max delay of timers if that is shorter; does not keep the
   * process alive. Returns a function that cancels it.
   */
  readonly setTimer: (callback: () => void, ms: number) => () => void;
}

/** Clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(callback, ms) {
    const timer = setTimeout(callback, Math.min(ms, maxDelayMs)).unref();
    return () => clearTimeout(timer);
  },
};

/** Max delay of Node's timers: a longer one fires at once. */
const maxDelayMs = 2 ** 31 - 1;

/** Runs `callback` every `ms`; returns a function that ends it. */
export function every({ setTimer }: Clock, ms: number, callback: () => void): () => void {
  const tick = (): void => {
    cancel = setTimer(tick, ms);
    callback();
  };
  let cancel = setTimer(tick, ms);
  return () => cancel();
}

/** Resolves after `ms`, and at once if the signal aborts. */
export function sleep({ setTimer }: Clock, ms: number, signal?: CallSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = (): void => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = setTimer(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}

/** Signal that aborts with a `TimeoutError` after `ms`, as `AbortSignal.timeout` does. */
export function timeoutSignal({ setTimer }: Clock, ms: number): AbortSignal {
  const controller = new AbortController();
  setTimer(() => controller.abort(timeoutError()), ms);
  return controller.signal;
}

/** End of work that has a time limit. */
interface Limit {
  /** Ends the work with its reason. */
  readonly until: AbortSignal;
  readonly ms: number;
}

/**
 * Runs work with a signal that aborts with another one, or with a `TimeoutError` after `ms`. Unlike `AbortSignal.any`
 * (Node 20), retains nothing of the work in a long-lived signal.
 */
export async function limited<Result>(
  { setTimer }: Clock,
  { until, ms }: Limit,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const leave = (): void => controller.abort(until.reason);
  if (until.aborted) leave();
  until.addEventListener('abort', leave);
  const cancel = setTimer(() => controller.abort(timeoutError()), ms);
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    until.removeEventListener('abort', leave);
  }
}

function timeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
