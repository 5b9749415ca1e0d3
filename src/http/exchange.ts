import { setMaxListeners } from 'node:events';
import type Koa from 'koa';
import type { CoreKey, GatewayError, GatewayState, Logger, Outcome, Usage } from '../plugin/index.js';

/** The core's own view of `ctx.state`: it seeds what plugins only read, and looks at what they may have set. */
export type CoreState = { -readonly [Key in CoreKey]: GatewayState[Key] } & Partial<
  Omit<GatewayState, CoreKey>
> & {
    /** The error that was the answer. */
    answered?: GatewayError;
    /** The last error that a stage has thrown, as the pipeline has traced it. */
    thrown?: { readonly error: unknown; readonly by: StagePlace | undefined };
    /** The first stage that was done with the request. */
    readonly endedBy?: StagePlace;
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
  readonly startedMs: number;
  /** Where it stands among those under way. */
  place = 0;
  readonly #controller = new AbortController();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];
  #outcome: Outcome | undefined;

  constructor(ctx: CoreContext, requestId: string, log: Logger, nowMs: number) {
    this.ctx = ctx;
    this.startedMs = nowMs;
    setMaxListeners(0, this.#controller.signal); // one request may make many upstream calls, and each listens to it
    ctx.state = seeds(requestId, log, this.#controller.signal, (listener) => this.onSettled(listener));
    ctx.res.once('close', () => this.#settle());
  }

  /** Calls `listener` once the response has closed; at once where that has happened. */
  onSettled(listener: (outcome: Outcome) => void): void {
    if (this.#outcome) this.#call(listener, this.#outcome);
    else this.#listeners.push(listener);
  }

  /** Ends what this request still does upstream; its caller is told `reason`. */
  abort(reason: GatewayError): void {
    this.#controller.abort(reason);
  }

  #settle(): void {
    const { res, state } = this.ctx;
    const hasFailed = state.failure !== undefined || res.statusCode >= 500;
    this.#outcome = hasFailed ? 'failed' : res.writableFinished ? 'completed' : 'abandoned';
    if (!this.#controller.signal.aborted) this.#controller.abort(responseClosed);
    for (const listener of this.#listeners) this.#call(listener, this.#outcome);
  }

  /** One bad listener must not keep the others from their clean-up. */
  #call(listener: (outcome: Outcome) => void, outcome: Outcome): void {
    try {
      listener(outcome);
    } catch (error) {
      this.ctx.state.log.error({ err: error }, 'A listener of onSettled failed.');
    }
  }
}

/** One for all: a stack trace for each request that ends would cost more than anything else at its end. */
const responseClosed = new DOMException('The response has closed.', 'AbortError');

function seeds(
  requestId: string,
  log: Logger,
  signal: AbortSignal,
  onSettled: GatewayState['onSettled'],
): CoreState {
  const none: Usage = {};
  return {
    requestId,
    operation: 'other',
    format: 'messages',
    signal,
    log,
    interceptors: [],
    additions: { system: [], tools: [] },
    onSettled,
    usage: { billed: none, masked: none },
    failure: undefined,
    firstEventAtMs: undefined,
    timeline: { stages: [], calls: [] },
  };
}
