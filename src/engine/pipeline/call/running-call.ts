import type { IncomingHttpHeaders } from 'node:http';
import { ownSignal } from '../../../kit/call-signal.js';
import { timeOrderedId } from '../../../kit/time-ordered-id.js';
import { CallController, defaultPipeline, type TraceCost } from '../../../plugin/core.js';
import type {
  Caller,
  GatewayError,
  Logger,
  MessagesRequest,
  Outcome,
  SlotPicker,
  StageCall,
} from '../../../plugin/index.js';
import { RequestTrace } from '../../trace/request-trace.js';
import { Settling } from '../../trace/settling.js';

/** Request or key that a call is made for. */
export interface CallOrigin {
  readonly caller: Caller;
  readonly format: string;
  /** Id of the request, also for the log; absent: the call gets one of its own. */
  readonly requestId?: string;
  /** Name of the pipeline whose stages support the call. */
  readonly pipeline: string;
  /** Path and headers of the request, by which conditions of stages hold. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Trace of the request; absent without one. */
  readonly trace?: RequestTrace;
  /** Id of the request's ledger row, as reports show it; absent: it will have none. */
  readonly parent?: string;
}

interface CallParts {
  readonly request: MessagesRequest;
  readonly origin: CallOrigin;
  /** Name of the stage. */
  readonly stage: string;
  readonly label: string;
  readonly headers: IncomingHttpHeaders;
}

export interface CallServices {
  readonly log: Logger;
  readonly now: () => number;
  /** Cost of the upstream calls so far; absent: no prices are known. */
  readonly costSoFar?: ((state: Pick<RunningCall['state'], 'trace' | 'request'>) => TraceCost) | undefined;
}

/** One call of `host.call`, from its start to the end of its answer. */
export class RunningCall extends Settling implements StageCall {
  readonly state: CallState;
  readonly headers: IncomingHttpHeaders;
  readonly isOfRequest: boolean;
  readonly origin: CallOrigin;
  readonly stage: string;
  readonly label: string;
  /** Milliseconds of `performance.now()`. */
  readonly beganMs = performance.now();
  readonly #signal = new CallController();

  constructor({ request, origin, stage, label, headers }: CallParts, services: CallServices) {
    super();
    this.state = new CallState(request, origin, { ...services, signal: this.#signal }, (listener) =>
      this.onSettled(listener),
    );
    this.headers = headers;
    this.isOfRequest = origin.trace !== undefined;
    this.origin = origin;
    this.stage = stage;
    this.label = label;
  }

  get isAborted(): boolean {
    return this.#signal.aborted;
  }

  /** Reason of the abort. */
  get abortReason(): unknown {
    return this.#signal.reason;
  }

  /** Ends the upstream work; the stage receives `reason`. */
  abort(reason: unknown): void {
    this.#signal.abort(reason);
  }

  /** Ends the call: closes its bills and calls the listeners. */
  settle(outcome: Outcome, error: GatewayError | undefined): void {
    const { trace } = this.state;
    if (error) trace.refuse(error);
    trace.closeBills(outcome === 'abandoned');
    this.#signal.abort(callEnded);
    this.end(outcome);
  }

  protected get log(): Logger {
    return this.state.log;
  }
}

/** Shared abort reason of calls that have ended. */
const callEnded = new DOMException('The call has ended.', 'AbortError');

interface StateParts extends CallServices {
  readonly signal: CallController;
}

type State = StageCall['state'];

/** State of a call, with those keys of a request's state that its stages need. */
class CallState implements State {
  readonly requestId: string;
  readonly operation = 'generate' as const;
  readonly format: string;
  readonly delivery = 'whole' as const;
  readonly log: Logger;
  readonly trace: RequestTrace;
  readonly additions: State['additions'];
  readonly caller: Caller;
  readonly request: MessagesRequest;
  readonly onSettled: State['onSettled'];
  readonly [ownSignal]: CallController;
  budgeted = false;
  #picker: SlotPicker | undefined;

  constructor(
    request: MessagesRequest,
    origin: CallOrigin,
    { log, now, costSoFar, signal }: StateParts,
    onSettled: State['onSettled'],
  ) {
    this.requestId = origin.requestId ?? `call_${timeOrderedId()}`;
    this.format = origin.format;
    this.log = log.child({ id: this.requestId });
    this.trace = new RequestTrace(now, costSoFar && (() => costSoFar(this)));
    this.additions = request.max_tokens === undefined ? ownLimit : noAdditions;
    this.caller = origin.caller;
    this.request = request;
    this.onSettled = onSettled;
    this[ownSignal] = signal;
    if (origin.pipeline !== defaultPipeline) this.trace.choose(origin.pipeline);
    this.trace.ask(request.model);
    for (const [tag, value] of Object.entries(origin.trace?.tags ?? {})) this.trace.tag(tag, value);
    this.trace.upstream.ids = origin.trace?.upstream.ids;
  }

  get signal(): AbortSignal {
    return this[ownSignal].abortSignal;
  }

  get picker(): SlotPicker {
    if (!this.#picker) throw new Error('A call has no picker before it is admitted.');
    return this.#picker;
  }

  set picker(picker: SlotPicker) {
    this.#picker = picker;
  }
}

const noAdditions: State['additions'] = { system: [], tools: [] };
const ownLimit: State['additions'] = { ...noAdditions, limit: true };
