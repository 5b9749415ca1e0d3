import type { GatewayError, MessagesRequest } from '../../plugin/index.js';
import type { Writable } from '../../kit/writable.js';
import { CallBill } from './call-bill.js';
import type { TracedStage } from './stage-clock.js';
import {
  UpstreamCallTimer,
  type CallIdSource,
  type CallReport,
  type TracedCall,
} from './upstream-call-timer.js';

interface BegunCall {
  readonly slot: string;
  readonly model: string | undefined;
  /** Absent: the call is not billed if it is cut off. */
  readonly request: MessagesRequest | undefined;
  /** Stage that makes the call. */
  readonly by: TracedStage | undefined;
}

/** Upstream calls of a request, and the times of its answer. */
export class UpstreamCalls {
  readonly list: TracedCall[] = [];
  readonly failed = new FailedCalls();
  /** Ids of the calls, if the request is part of an exported or propagated trace. */
  ids: CallIdSource | undefined;
  /** Slot of the call that began or failed last. */
  slot: string | undefined;
  firstEventAtMs: number | undefined;
  firstTokenAtMs: number | undefined;
  lastEventAtMs: number | undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin({ slot, model, request, by }: BegunCall): UpstreamCallTimer {
    const timed: Writable<TracedCall> = { slot, ms: 0, beganMs: performance.now(), by };
    if (model !== undefined) timed.model = model;
    this.list.push(timed);
    this.slot = slot;
    const ids = this.ids?.next();
    if (ids) timed.spanId = ids.spanId;
    const report = this.#reportOf(timed);
    const bill = request && new CallBill(request);
    return new UpstreamCallTimer(timed, this.#now, { report, bill, headers: ids?.headers });
  }

  /** Replaces the codes of failed calls by those that may be shown. */
  showCodes(shown: (code: string) => string): void {
    const calls = this.list as Writable<TracedCall>[];
    for (const call of calls) if (call.code !== undefined) call.code = shown(call.code);
  }

  #reportOf(call: TracedCall): CallReport {
    return {
      answered: (firstEventAtMs, firstTokenAtMs) => {
        this.firstEventAtMs ??= firstEventAtMs;
        this.firstTokenAtMs ??= firstTokenAtMs;
      },
      ended: (atMs) => (this.lastEventAtMs = atMs),
      failed: (error) => {
        this.slot = call.slot;
        this.failed.add(call, error);
      },
    };
  }
}

/** Failed upstream call with its error. */
interface FailedCall {
  readonly call: TracedCall;
  readonly error: GatewayError;
}

/** Failed upstream calls of a request: the last ones, for a stage may make any number of calls. */
class FailedCalls {
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
