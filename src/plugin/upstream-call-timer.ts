import type { CallTimer, TimedCall } from './contract/trace.js';
import type { GatewayError } from './error.js';

/** Timer of one upstream call, and what that reports to the trace of its request. */
export class UpstreamCallTimer implements CallTimer {
  readonly #timed: Writable<TimedCall>;
  readonly #now: () => number;
  readonly #report: CallReport;
  readonly #beganMs = performance.now();
  #isStopped = false;
  #firstEventAtMs: number | undefined;
  #firstTokenAtMs: number | undefined;

  constructor(timed: Writable<TimedCall>, now: () => number, report: CallReport) {
    this.#timed = timed;
    this.#now = now;
    this.#report = report;
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

  fail({ code }: GatewayError): void {
    this.#stop();
    this.#timed.code = code;
    this.#report.failed();
  }

  #stop(): void {
    if (!this.#isStopped) this.#timed.ms = performance.now() - this.#beganMs;
    this.#isStopped = true;
  }
}

export interface CallReport {
  answered(firstEventAtMs: number | undefined, firstTokenAtMs: number | undefined): void;
  ended(atMs: number): void;
  failed(): void;
}

type Writable<Entry> = { -readonly [Field in keyof Entry]: Entry[Field] };
