import type { Clock } from '../clock.js';
import { CallController } from '../http/call-controller.js';
import type { CallSignal } from '../http/call-signal.js';
import { Deadline } from '../limits/deadline.js';
import { GatewayError } from '../error.js';

/**
 * Timeout of an upstream call for its first content. Its signal aborts at the timeout, and with the request.
 */
export class FirstContent {
  readonly #controller = new CallController();
  readonly #request: CallSignal;
  readonly #deadline: Deadline;
  #hasCome = false;

  /** `slot`: id of the called slot, for the error message. */
  constructor(request: CallSignal, slot: string, limitMs: number, clock?: Clock) {
    this.#request = request;
    this.#deadline = new Deadline(
      () => this.#controller.abort(late(slot, limitMs)),
      () => false,
      clock,
    );
    if (request.aborted) this.#controller.abort(request.reason);
    request.addEventListener('abort', this.#leave);
    this.#deadline.start(limitMs);
  }

  /** Abort signal for the call. */
  get signal(): CallSignal {
    return this.#controller;
  }

  readonly hasCome = (): boolean => this.#hasCome;

  /** Reports the first content: from now on only the request aborts the call. */
  readonly come = (): void => {
    this.#hasCome = true;
    this.#deadline.stop();
  };

  /**
   * Ends the call. Returns its error: the timeout or other reason of the abort, if it was aborted, else
   * `error`.
   */
  end(error?: unknown): unknown {
    this.#deadline.stop();
    this.#request.removeEventListener('abort', this.#leave);
    return this.#controller.aborted ? this.#controller.reason : error;
  }

  readonly #leave = (): void => {
    this.#deadline.stop();
    this.#controller.abort(this.#request.reason);
  };
}

function late(slot: string, limitMs: number): GatewayError {
  const message = `The upstream of slot "${slot}" sent no content within ${limitMs} ms.`;
  return new GatewayError('upstream_timeout', message, { failure: { kind: 'timeout' } });
}
