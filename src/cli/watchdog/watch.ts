import { raiseMs, type WatchOptions } from './watchdog.js';

/** Watches the counter of the main thread. Runs in another thread, and counts that thread's own ticks as time. */
export function begin(options: WatchOptions): void {
  const counter = new Int32Array(options.shared);
  let seen = Atomics.load(counter, 0);
  let stuckMs = 0;
  let isReported = false;
  const look = (): void => {
    const count = Atomics.load(counter, 0);
    const isAlive = count !== seen || Atomics.load(counter, 1) === 1;
    stuckMs = isAlive ? 0 : stuckMs + raiseMs;
    seen = count;
    if (isAlive) isReported = false;
    if (stuckMs < options.stuckTimeoutMs || isReported) return;
    isReported = true;
    // Loaded by a process that is stuck, and no other.
    void import('./report-stuck.js').then(({ reportStuck }) =>
      reportStuck(options, () => Atomics.load(counter, 0) === count),
    );
  };
  setInterval(look, raiseMs).unref();
}
