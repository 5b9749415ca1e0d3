import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setFlagsFromString } from 'node:v8';

interface ReleaseOptions {
  /** Time without a request that counts as idle, in ms. */
  readonly idleMs?: number;
  /** Time for V8 to act, in ms: its memory reducer runs every 8 s. */
  readonly windowMs?: number;
  /** Time after which memory is left alone, in ms, as it no longer comes from the start. */
  readonly giveUpMs?: number;
  readonly setFlags?: (flags: string) => void;
}

/** Published by Node for each request of a server. */
const requestStart = 'http.server.request.start';

/**
 * Makes V8 release the memory that only the start needed, once idle: its memory reducer waits for a low allocation
 * rate, which the start raises for long, unless `--optimize-for-size` is set. The flag also slows code down, so the
 * next request resets it; returns a function that cancels.
 */
export function releaseStartMemory(options: ReleaseOptions = {}): () => void {
  const { idleMs = 2000, windowMs = 9000, giveUpMs = 60_000, setFlags = setFlagsFromString } = options;
  const onRequest = (): void => {
    if (window) end();
    else idle.refresh();
  };
  const begin = (): void => {
    setFlags('--optimize-for-size');
    window = setTimeout(end, windowMs).unref();
  };
  const end = (): void => {
    unsubscribe(requestStart, onRequest);
    for (const timer of [idle, window, last]) clearTimeout(timer);
    if (window) setFlags('--no-optimize-for-size');
    window = undefined;
  };
  let window: NodeJS.Timeout | undefined;
  const idle = setTimeout(begin, idleMs).unref();
  const last = setTimeout(end, giveUpMs).unref();
  subscribe(requestStart, onRequest);
  return end;
}
