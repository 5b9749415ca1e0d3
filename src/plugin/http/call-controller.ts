import { setMaxListeners } from 'node:events';
import type { CallSignal } from '../../kit/call-signal.js';

/**
 * Abort controller with its signal, kept in a plain array of listeners: cheaper for each call than an
 * AbortSignal, which is created on demand.
 */
export class CallController implements CallSignal {
  readonly #listeners: (() => void)[] = [];
  #aborted = false;
  #reason: unknown;
  #native: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Same signal as a native AbortSignal; it aborts after the listeners here have been called. */
  get abortSignal(): AbortSignal {
    this.#native ??= this.#openNative();
    return this.#native.signal;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const at = this.#listeners.lastIndexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Aborts once; further calls do nothing. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (let listener = this.#listeners.shift(); listener; listener = this.#listeners.shift()) call(listener);
    this.#native?.abort(reason);
  }

  #openNative(): AbortController {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal); // one request may make many upstream calls, and each may listen to it
    if (this.#aborted) controller.abort(this.#reason);
    return controller;
  }
}

/**
 * Calls a listener as an AbortSignal does: its error does not stop the other listeners, and becomes an
 * uncaught exception.
 */
function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
