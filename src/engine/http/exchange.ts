import type Koa from 'koa';
import { CallController, noInterceptors, type CoreKey, type TraceCost } from '../../plugin/core.js';
import type {
  Additions,
  Format,
  GatewayError,
  GatewayState,
  Logger,
  Operation,
  Outcome,
} from '../../plugin/index.js';
import { ownSignal } from '../../kit/call-signal.js';
import { RequestTrace } from '../trace/request-trace.js';
import { Settling } from '../trace/settling.js';
import type { Actor } from '../../state/store/contract/actor.js';
import type { Delivery } from './watch/caller-watch.js';
import { MemorySocket } from './connection/memory-socket.js';

/** Core view of `ctx.state`: seeds the keys that plugins only read, and reads those that they may set. */
export type CoreState = { -readonly [Key in Exclude<CoreKey, 'trace'>]: GatewayState[Key] } & {
  readonly trace: RequestTrace;
  /** Error bodies of the format of the path, if it has its own. */
  formatError?: NonNullable<Format['error']> | undefined;
  /** Authenticated operator of a request to the console or `/admin/*`. */
  actor?: Actor;
} & Partial<Omit<GatewayState, CoreKey>>;

export type CoreContext = Koa.ParameterizedContext<CoreState, object>;
export type CoreMiddleware = (ctx: CoreContext, next: () => Promise<void>) => Promise<void>;

/** One request from its first byte to the close of its response. */
export class Exchange extends Settling implements Delivery {
  readonly ctx: CoreContext;
  /** State of the request: `ctx.state`, which stages can change but not replace. */
  readonly state: CoreState;
  readonly startedMs: number;
  /** Address of the caller; with `listen.trustProxy` the one that the proxy names. Read at once: a closed socket has none. */
  readonly client: string;
  /** Index among the open exchanges. */
  place = 0;
  readonly #signal = new CallController();

  /** `log`: the gateway's logger, of which the request gets a child on its first line. */
  constructor(ctx: CoreContext, requestId: string, { log, now, costSoFar }: ExchangeParts) {
    super();
    this.ctx = ctx;
    this.startedMs = now();
    this.client = ctx.ip;
    this.state = new InitialState(
      requestId,
      this.#signal,
      { log, now, costSoFar, startedMs: this.startedMs },
      (listener) => this.onSettled(listener),
    );
    Object.defineProperty(ctx, 'state', { value: this.state, writable: false });
  }

  /** Aborts the upstream work of this request; its caller receives `reason`. */
  abort(reason: GatewayError): void {
    this.#signal.abort(reason);
  }

  /** 0 on a connection within this process, whose other end is watched. */
  get waitingBytes(): number {
    const { req, res } = this.ctx;
    return req.socket instanceof MemorySocket ? 0 : res.writableLength;
  }

  get takenBytes(): number {
    const { bytesWritten, writableLength } = this.ctx.req.socket;
    return bytesWritten - writableLength;
  }

  cut(): void {
    this.ctx.req.socket.resetAndDestroy();
  }

  /** Ends the request, whose response has closed: sets the outcome and calls the listeners. */
  settle(): void {
    const { res } = this.ctx;
    const hasFailed = this.state.trace.failure !== undefined || res.statusCode >= 500;
    const outcome: Outcome = hasFailed ? 'failed' : res.writableFinished ? 'completed' : 'abandoned';
    this.state.trace.closeBills(outcome === 'abandoned');
    this.#signal.abort(responseClosed);
    this.end(outcome);
  }

  protected get log(): Logger {
    return this.state.log;
  }
}

/** Shared abort reason: a stack trace for each request would be the main cost of its end. */
const responseClosed = new DOMException('The response has closed.', 'AbortError');

interface ExchangeParts {
  readonly log: Logger;
  readonly now: () => number;
  /** Cost of a request's upstream calls so far; absent: no prices are known. */
  readonly costSoFar?: ((state: CostState) => TraceCost) | undefined;
}

/** State of a request that its cost is computed from. */
export type CostState = Pick<CoreState, 'trace' | 'request'>;

/** Initial state of a request; the signal and the child logger are created lazily. */
class InitialState implements Pick<GatewayState, CoreKey> {
  readonly requestId: string;
  operation: Operation = 'other';
  format = 'messages';
  readonly [ownSignal]: CallController;
  interceptors: GatewayState['interceptors'] = noInterceptors;
  readonly onSettled: GatewayState['onSettled'];
  #additions: Additions = { system: [], tools: [] };
  readonly #trace: RequestTrace;
  readonly #parentLog: Logger;
  #log: Logger | undefined;
  #formatError: CoreState['formatError'];

  constructor(
    requestId: string,
    signal: CallController,
    { log, now, costSoFar, startedMs }: ExchangeParts & Pick<Exchange, 'startedMs'>,
    onSettled: GatewayState['onSettled'],
  ) {
    this.requestId = requestId;
    this[ownSignal] = signal;
    this.onSettled = onSettled;
    this.#trace = new RequestTrace(now, costSoFar && (() => costSoFar(this)), startedMs);
    this.#parentLog = log;
  }

  get signal(): AbortSignal {
    return this[ownSignal].abortSignal;
  }

  get trace(): RequestTrace {
    return this.#trace;
  }

  get additions(): Additions {
    return this.#additions;
  }

  set additions(additions: Additions) {
    this.#additions = additions;
    this.#trace.addedParts(additions);
  }

  get log(): Logger {
    this.#log ??= this.#parentLog.child({ id: this.requestId });
    return this.#log;
  }

  get formatError(): CoreState['formatError'] {
    return this.#formatError;
  }

  set formatError(value: CoreState['formatError']) {
    this.#formatError = value;
  }
}
