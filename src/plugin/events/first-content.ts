import { systemClock, type Clock } from '../../kit/time/clock.js';
import { CallController } from '../http/call-controller.js';
import type { CallSignal } from '../../kit/call-signal.js';
import { Deadline } from '../../kit/time/deadline.js';
import { GatewayError } from '../contract/error.js';

interface FirstContentOptions {
  readonly clock?: Clock;
  /** True if the timeout means that the upstream has not begun to answer in time. */
  readonly isSilent?: () => boolean;
}

/**
 * Timeout of an upstream call for its first content. Its signal aborts at the timeout, and with the request.
 */
export class FirstContent {
  readonly #controller = new CallController();
  readonly #request: CallSignal;
  readonly #deadline: Deadline;
  readonly #clock: Clock;
  readonly #startMs: number;
  #tookMs: number | undefined;

  /** `slot`: id of the called slot, for the error message. */
  constructor(
    request: CallSignal,
    slot: string,
    limitMs: number,
    { clock = systemClock, isSilent = () => false }: FirstContentOptions = {},
  ) {
    this.#request = request;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#deadline = new Deadline(
      () => this.#controller.abort(late(slot, limitMs, isSilent())),
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

  readonly hasCome = (): boolean => this.#tookMs !== undefined;

  /** Time to the first content, milliseconds; undefined before. */
  get tookMs(): number | undefined {
    return this.#tookMs;
  }

  /** Reports the first content: from now on only the request aborts the call. */
  readonly come = (): void => {
    this.#tookMs ??= this.#clock.monotonicMs() - this.#startMs;
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

function late(slot: string, afterMs: number, isSilent: boolean): GatewayError {
  const silence = `sent no content within ${afterMs} ms.`;
  const waitedFor = isSilent ? 'headers' : 'content';
  return new GatewayError('upstream_timeout', `The upstream of slot "${slot}" ${silence}`, {
    callersMessage: `The upstream ${silence}`,
    failure: { kind: 'timeout', waitedFor, afterMs },
  });
}
