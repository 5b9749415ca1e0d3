import type Koa from 'koa';
import type {
  Additions,
  CoreKey,
  GatewayError,
  GatewayState,
  Interceptor,
  Logger,
  Operation,
  Outcome,
  Timeline,
  UsageTally,
  WireFormat,
} from '../plugin/index.js';
import { RequestSignal } from './request-signal.js';

/** Core view of `ctx.state`: seeds the keys that plugins only read, and reads those that they may set. */
export type CoreState = { -readonly [Key in CoreKey]: GatewayState[Key] } & Partial<
  Omit<GatewayState, CoreKey>
> & {
    /** The error that was the answer. */
    answered?: GatewayError | undefined;
    /** Last error thrown by a stage, as the pipeline has traced it. */
    thrown?: { readonly error: unknown; readonly by: StagePlace | undefined } | undefined;
    /** The first stage that was done with the request. */
    readonly endedBy?: StagePlace | undefined;
  };

/** A stage as log lines name it: its name, and where it stands in the config. */
export interface StagePlace {
  readonly stage: string;
  readonly path: string;
}

export type CoreContext = Koa.ParameterizedContext<CoreState, object>;
export type CoreMiddleware = (ctx: CoreContext, next: () => Promise<void>) => Promise<void>;

/** One request from its first byte to the close of its response. */
export class Exchange {
  readonly ctx: CoreContext;
  /** State of the request: `ctx.state`, which stages can change but not replace. */
  readonly state: CoreState;
  readonly startedMs: number;
  /** Index among the open exchanges. */
  place = 0;
  readonly #signal = new RequestSignal();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];
  #outcome: Outcome | undefined;

  /** `log`: the gateway's logger, of which the request gets a child on its first line. */
  constructor(ctx: CoreContext, requestId: string, log: Logger, nowMs: number) {
    this.ctx = ctx;
    this.startedMs = nowMs;
    this.state = new Seeds(requestId, this.#signal, log, (listener) => this.onSettled(listener));
    Object.defineProperty(ctx, 'state', { value: this.state, writable: false });
    ctx.res.once('close', () => this.#settle());
  }

  /** Calls `listener` once the response has closed; at once where that has happened. */
  onSettled(listener: (outcome: Outcome) => void): void {
    if (this.#outcome) this.#call(listener, this.#outcome);
    else this.#listeners.push(listener);
  }

  /** Aborts the upstream work of this request; its caller receives `reason`. */
  abort(reason: GatewayError): void {
    this.#signal.abort(reason);
  }

  #settle(): void {
    const { res } = this.ctx;
    const hasFailed = this.state.failure !== undefined || res.statusCode >= 500;
    this.#outcome = hasFailed ? 'failed' : res.writableFinished ? 'completed' : 'abandoned';
    this.#signal.abort(responseClosed);
    for (const listener of this.#listeners) this.#call(listener, this.#outcome);
  }

  /** Calls a listener; logs its error, so that the others still run. */
  #call(listener: (outcome: Outcome) => void, outcome: Outcome): void {
    try {
      listener(outcome);
    } catch (error) {
      this.state.log.error({ err: error }, 'A listener of onSettled failed.');
    }
  }
}

/** Shared abort reason: a stack trace for each request would be the main cost of its end. */
const responseClosed = new DOMException('The response has closed.', 'AbortError');

/**
 * Initial state of a request; the signal and the child logger are created lazily. Fields written by the core
 * stay writable even if a stage freezes the state.
 */
class Seeds implements Pick<GatewayState, CoreKey> {
  readonly requestId: string;
  operation: Operation = 'other';
  format: WireFormat = 'messages';
  readonly callSignal: RequestSignal;
  readonly interceptors: Interceptor[] = [];
  additions: Additions = { system: [], tools: [] };
  readonly onSettled: GatewayState['onSettled'];
  readonly usage: UsageTally = { billed: {}, masked: {} };
  readonly timeline: Timeline = { stages: [], calls: [] };
  readonly #parentLog: Logger;
  #log: Logger | undefined;
  #failure: GatewayError | undefined;
  #firstEventAtMs: number | undefined;
  #answered: GatewayError | undefined;
  #thrown: CoreState['thrown'];
  #endedBy: StagePlace | undefined;

  constructor(requestId: string, signal: RequestSignal, log: Logger, onSettled: GatewayState['onSettled']) {
    this.requestId = requestId;
    this.callSignal = signal;
    this.onSettled = onSettled;
    this.#parentLog = log;
  }

  get signal(): AbortSignal {
    return this.callSignal.abortSignal;
  }

  get log(): Logger {
    this.#log ??= this.#parentLog.child({ id: this.requestId });
    return this.#log;
  }

  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  set failure(value: GatewayError | undefined) {
    this.#failure = value;
  }

  get firstEventAtMs(): number | undefined {
    return this.#firstEventAtMs;
  }

  set firstEventAtMs(value: number | undefined) {
    this.#firstEventAtMs = value;
  }

  get answered(): GatewayError | undefined {
    return this.#answered;
  }

  set answered(value: GatewayError | undefined) {
    this.#answered = value;
  }

  get thrown(): CoreState['thrown'] {
    return this.#thrown;
  }

  set thrown(value: CoreState['thrown']) {
    this.#thrown = value;
  }

  get endedBy(): StagePlace | undefined {
    return this.#endedBy;
  }

  set endedBy(value: StagePlace | undefined) {
    this.#endedBy = value;
  }
}
