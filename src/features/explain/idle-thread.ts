import type { Clock } from '../../plugin/index.js';
import type { ExplainThread } from './explain-thread.js';

/** Time for which a thread waits for another task, with the modules that it has loaded. */
const idleMs = 3 * 60_000;

/** Place of one thread that waits for another task; it ends after a while, and when the gateway closes. */
export class IdleThread {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #thread: ExplainThread | undefined;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
    closing.addEventListener('abort', () => void this.take()?.end(), { once: true });
  }

  get thread(): ExplainThread | undefined {
    return this.#thread;
  }

  /** The thread that waits, which waits no more. */
  take(): ExplainThread | undefined {
    this.#cancel();
    const thread = this.#thread;
    this.#thread = undefined;
    return thread;
  }

  /** Keeps a thread, where the place is free. */
  keep(thread: ExplainThread): void {
    if (this.#thread || !thread.isUsable || this.#closing.aborted) return;
    this.#thread = thread;
    this.#cancel = this.#clock.setTimer(() => void this.take()?.end(), idleMs);
  }
}
