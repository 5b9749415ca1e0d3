import type { CallBill } from './call-bill.js';
import {
  addUsage,
  type CallProgress,
  type CallTimer,
  type GatewayError,
  type ModelEvent,
  type Trace,
  type Usage,
} from '../../plugin/index.js';
import type { TracedStage } from './stage-clock.js';
import type { Writable } from '../../kit/writable.js';

type TimedCall = Trace['calls'][number];

/** Upstream call with its start, milliseconds of `performance.now()`, and the stage that made it. */
export interface TracedCall extends TimedCall {
  readonly beganMs: number;
  readonly by: TracedStage | undefined;
  /** Id of its span, if it has one already. */
  readonly spanId?: string;
}

/** Id of a call's span, and the headers that propagate the trace. */
export interface CallIds {
  readonly spanId: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Source of the ids of a request's upstream calls. */
export interface CallIdSource {
  next(): CallIds;
}

interface TimerParts {
  readonly report: CallReport;
  readonly headers?: CallTimer['headers'];
  /** Absent: the call is not billed if it is cut off. */
  readonly bill?: CallBill | undefined;
}

/** Timer of one upstream call, which reports to the trace of its request. */
export class UpstreamCallTimer implements CallTimer {
  readonly headers: CallTimer['headers'];
  readonly #timed: Writable<TracedCall>;
  readonly #now: () => number;
  readonly #report: CallReport;
  readonly #bill: CallBill | undefined;
  #isStopped = false;
  #firstEventAtMs: number | undefined;
  #firstTokenAtMs: number | undefined;

  constructor(timed: Writable<TracedCall>, now: () => number, { report, headers, bill }: TimerParts) {
    this.#timed = timed;
    this.#now = now;
    this.#report = report;
    this.#bill = bill;
    this.headers = headers;
  }

  firstEvent(): void {
    if (this.#firstEventAtMs !== undefined) return;
    this.#stop();
    this.#firstEventAtMs = this.#now();
  }

  firstToken(): void {
    this.#firstTokenAtMs ??= this.#now();
  }

  end(): void {
    this.#stop();
    this.#report.answered(this.#firstEventAtMs, this.#firstTokenAtMs);
  }

  lastEvent(): void {
    this.#report.ended(this.#now());
  }

  reach(progress: CallProgress): void {
    this.#bill?.reach(progress);
  }

  received(event: ModelEvent): void {
    this.#bill?.receive(event);
  }

  bill(usage: Usage, isFinal = false): void {
    this.#timed.billed = usage;
    this.#bill?.bill(usage, isFinal);
  }

  /** Completes the bill of a call at the end of its request; returns the usage added by an estimate. */
  close(hasCallerLeft: boolean): Usage | undefined {
    const missing = this.#bill?.missing(hasCallerLeft);
    const { billed, code } = this.#timed;
    if (missing) this.#timed.billed = addUsage(billed ?? {}, missing);
    else if (this.#bill?.isUnsent && code === undefined) this.#timed.billed = billed ?? {};
    return missing;
  }

  fail(error: GatewayError): void {
    this.#stop();
    this.#timed.code = error.code;
    this.#bill?.fail(error);
    this.#report.failed(error);
  }

  #stop(): void {
    if (!this.#isStopped) this.#timed.ms = performance.now() - this.#timed.beganMs;
    this.#isStopped = true;
  }
}

export interface CallReport {
  answered(firstEventAtMs: number | undefined, firstTokenAtMs: number | undefined): void;
  ended(atMs: number): void;
  failed(error: GatewayError): void;
}
