import { GatewayError, type ModelReply, type Outcome } from '../../../plugin/index.js';
import type { CallServices, RunningCall } from './running-call.js';

/** Call of a stage that has ended: with its answer, or with an error unless it was aborted by the stage. */
export interface EndedStageCall {
  readonly call: RunningCall;
  readonly outcome: Outcome;
  readonly reply?: ModelReply | undefined;
  readonly error?: GatewayError | undefined;
}

interface CallRecorder extends Pick<CallServices, 'costSoFar'> {
  /** Writes the row of a call that has settled. */
  readonly record: (ended: EndedStageCall) => void;
  /** False once the gateway refuses new requests, and with them calls of no request. */
  readonly takesRequests: () => boolean;
}

/** Runs the work of a call with a label. */
export type WithinCall = <Result>(label: string, work: () => Result) => Result;

/** Registry of the open calls of all stages, of every pipeline. */
export class OpenCalls {
  /** Default: runs the work alone. */
  readonly within: WithinCall;
  readonly #open = new Set<RunningCall>();
  readonly #idleWaiters: (() => void)[] = [];
  #recorder: CallRecorder | undefined;
  #isClosed = false;
  #settledCount = 0;

  constructor(within: WithinCall = (_, work) => work()) {
    this.within = within;
  }

  /** Sets the recorder of ended calls; before that there are no calls. */
  recordWith(recorder: CallRecorder): void {
    this.#recorder = recorder;
  }

  get costSoFar(): CallServices['costSoFar'] {
    return this.#recorder?.costSoFar;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Number of calls that have settled since the start. */
  get settled(): number {
    return this.#settledCount;
  }

  /** Throws an Error before the gateway is open, and `shutting_down` once it closes. */
  requireOpen(isOfRequest: boolean): void {
    if (!this.#recorder) throw new Error('host.call: the gateway is still starting; call it later.');
    if (this.#isClosed || !(isOfRequest || this.#recorder.takesRequests()))
      throw new GatewayError('shutting_down', 'This gateway is shutting down.');
  }

  add(call: RunningCall): void {
    this.#open.add(call);
  }

  /** Settles a call and records it. */
  end(ended: EndedStageCall): void {
    const { call, outcome, error } = ended;
    call.settle(outcome, error);
    call.onSettled(() => this.#recorder?.record(ended)); // an error is logged
    call.state.trace.settle();
    this.#settledCount += 1;
    this.#open.delete(call);
    if (this.#open.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Resolves when no call is open. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => void this.#idleWaiters.push(resolve));
  }

  /** Aborts every open call; its stage receives `reason`. */
  abortAll(reason: GatewayError): void {
    for (const call of this.#open) call.abort(reason);
  }

  /** Refuses all calls from now on. */
  close(): void {
    this.#isClosed = true;
  }
}
