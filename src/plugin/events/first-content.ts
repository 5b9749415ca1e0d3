import { CallController } from '../http/call-controller.js';
import type { CallSignal } from '../http/call-signal.js';
import { Deadline } from '../limits/deadline.js';
import { GatewayError } from '../error.js';

/** The time that one upstream call has for its first content. Its signal aborts when that is over, and with the request. */
export class FirstContent {
  readonly #controller = new CallController();
  readonly #request: CallSignal;
  readonly #deadline: Deadline;
  #hasCome = false;

  /** `slot`: whose upstream is called. */
  constructor(request: CallSignal, slot: string, limitMs: number) {
    this.#request = request;
    this.#deadline = new Deadline(
      () => this.#controller.abort(late(slot, limitMs)),
      () => false,
    );
    if (request.aborted) this.#controller.abort(request.reason);
    request.addEventListener('abort', this.#leave);
    this.#deadline.start(limitMs);
  }

  /** The signal that the call listens to. */
  get signal(): CallSignal {
    return this.#controller;
  }

  readonly hasCome = (): boolean => this.#hasCome;

  /** The first content is there: from now on only the request ends the call. */
  readonly come = (): void => {
    this.#hasCome = true;
    this.#deadline.stop();
  };

  /** The call is over. Gives what it has failed with: that it was late, whatever the upstream made of its end. */
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
