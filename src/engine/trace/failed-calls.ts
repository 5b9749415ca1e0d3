import type { GatewayError } from '../../plugin/index.js';
import type { TracedCall } from './upstream-call-timer.js';

/** Failed upstream call with its error. */
interface FailedCall {
  readonly call: TracedCall;
  readonly error: GatewayError;
}

/** Failed upstream calls of a request: the last ones, for a stage may make any number of calls. */
export class FailedCalls {
  #calls: FailedCall[] | undefined;

  /** In the order of their failures. */
  get list(): readonly FailedCall[] {
    return this.#calls ?? none;
  }

  add(call: TracedCall, error: GatewayError): void {
    this.#calls ??= [];
    this.#calls.push({ call, error });
    if (this.#calls.length > maxFailedCalls) this.#calls.shift();
  }
}

const maxFailedCalls = 5;

const none: readonly FailedCall[] = [];
