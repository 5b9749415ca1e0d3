import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setFlagsFromString } from 'node:v8';

interface ReleaseOptions {
  /** Time without a request that counts as idle, in ms. */
  readonly idleMs?: number;
  /** Time that V8 is given, in ms: its memory reducer looks every 8 s. */
  readonly windowMs?: number;
  /** Time after which nothing is done any more, in ms: what is left then is no longer of the start. */
  readonly giveUpMs?: number;
  readonly setFlags?: (flags: string) => void;
}

/** Published by Node for each request of a server. */
const requestStart = 'http.server.request.start';

/**
 * Has V8 give back the memory that only the start needed, once no request comes. V8's memory reducer waits for a
 * low allocation rate, and the start counts in that rate for long; with `--optimize-for-size` it does not wait.
 * The flag also makes code slower, so that the next request ends it. Returns a function that gives up.
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
