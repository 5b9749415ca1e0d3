import { setMaxListeners } from 'node:events';
import { CallController } from '../plugin/index.js';

/** Abort signal of one request. A native AbortSignal is created on demand and aborts last. */
export class RequestSignal extends CallController {
  #controller: AbortController | undefined;

  /** Same signal as a native AbortSignal, for APIs that need one. */
  get abortSignal(): AbortSignal {
    this.#controller ??= this.#openController();
    return this.#controller.signal;
  }

  override abort(reason: unknown): void {
    super.abort(reason);
    this.#controller?.abort(this.reason);
  }

  #openController(): AbortController {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal); // one request may make many upstream calls, and each may listen to it
    if (this.aborted) controller.abort(this.reason);
    return controller;
  }
}
