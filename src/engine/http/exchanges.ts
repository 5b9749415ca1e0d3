import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendTo } from '../../kit/direct-body.js';
import type { Clock, GatewayError, Logger, Outcome } from '../../plugin/index.js';
import type { TraceCost } from '../../plugin/core.js';
import { BodyWatch } from './watch/body-watch.js';
import { CallerWatch, type CallerLimits } from './watch/caller-watch.js';
import { Exchange, type CoreContext, type CostState } from './exchange.js';
import { closeLingering, lingerAfterAnswer } from './connection/lingering-close.js';
import { directBodyOf } from './koa/lazy-bodies.js';
import { requestIdOf } from './request-id.js';
import { StageWatch } from './watch/stage-watch.js';
import { sendWhole } from './connection/whole-answer.js';

export interface ExchangesOptions {
  readonly log: Logger;
  readonly now: () => number;
  readonly clock: Clock;
  /** Cost of a request's upstream calls so far; absent: no prices are known. */
  readonly costSoFar?: (state: CostState) => TraceCost;
  /** Called when a response has closed, after the request's own listeners. */
  onSettled(exchange: Exchange, outcome: Outcome): void;
}

export interface WatchLimits extends CallerLimits {
  readonly bodyIdleTimeoutMs: number;
}

/** Registry of the open requests. */
export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #open = new OpenExchanges();
  #settledCount = 0;
  readonly #idleWaiters: (() => void)[] = [];
  #bodies: BodyWatch | undefined;
  #callers: CallerWatch | undefined;
  #stages: StageWatch | undefined;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  /** The outermost middleware: seeds the state, echoes the request id, sees the response close. */
  readonly middleware = async (ctx: CoreContext, next: () => Promise<void>): Promise<void> => {
    const requestId = requestIdOf(ctx.get('x-request-id') || undefined);
    ctx.res.setHeader('x-request-id', requestId);
    ctx.res.setHeader('x-content-type-options', 'nosniff');
    const exchange = new Exchange(ctx, requestId, this.#options);
    this.#open.add(exchange);
    if (!ctx.req.complete) this.#bodies?.wake();
    this.#callers?.wake();
    ctx.res.once('close', () => this.#settled(exchange));
    await next();
    if (mayHaveMore(ctx.req)) await endWithAnswer(ctx);
    send(ctx);
  };

  /**
   * Until `close`, refuses requests whose bodies arrive too slowly, ends answers that are not read, and logs stages
   * that keep requests waiting.
   */
  watch({ bodyIdleTimeoutMs, ...callers }: WatchLimits): void {
    const list = () => this.#open.list();
    const { clock } = this.#options;
    this.#bodies = new BodyWatch(list, bodyIdleTimeoutMs, clock);
    this.#callers = new CallerWatch(list, callers, clock);
    this.#stages = new StageWatch(list, undefined, clock);
  }

  close(): void {
    this.#bodies?.close();
    this.#callers?.close();
    this.#stages?.close();
  }

  /** Open request of an id; undefined if there is none. */
  find(requestId: string): Exchange | undefined {
    return this.#open.list().find(({ state }) => state.requestId === requestId);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Number of requests that have settled since the start. */
  get settled(): number {
    return this.#settledCount;
  }

  /** Responses of the open requests. */
  get responses(): readonly ServerResponse[] {
    return this.#open.list().map(({ ctx }) => ctx.res);
  }

  /** Number of open model requests, without those of the console. */
  get calls(): number {
    return this.#open.list().filter(({ state }) => state.operation !== 'other').length;
  }

  /** Resolves when no request is open. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => void this.#idleWaiters.push(resolve));
  }

  /** Aborts every open request; their callers receive `reason`. */
  abortAll(reason: GatewayError): void {
    for (const exchange of this.#open.list()) exchange.abort(reason);
  }

  #settled(exchange: Exchange): void {
    exchange.settle();
    this.#settledCount += 1;
    this.#open.delete(exchange);
    const { req } = exchange.ctx;
    if (mayHaveMore(req)) setImmediate(() => mayHaveMore(req) && closeLingering(req.socket)); // answered by a middleware
    exchange.onSettled((outcome) => this.#options.onSettled(exchange, outcome));
    exchange.state.trace.settle();
    if (this.#open.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

/**
 * Closes the connection after an answer before the end of the request's body, as the rest will not be read. Waits first
 * until the data received with the headers is parsed.
 */
async function endWithAnswer({ req, res }: CoreContext): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (!mayHaveMore(req)) return;
  if (!res.headersSent) res.setHeader('connection', 'close');
  lingerAfterAnswer(req.socket);
}

/** True for a request whose body is incomplete, on a connection that is still open. */
function mayHaveMore({ complete, headers, socket }: IncomingMessage): boolean {
  if (complete || socket.destroyed || socket.writableEnded) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Sends responses that bypass Koa: a body that writes itself, unless a stage has wrapped it, and whole answers. */
function send(ctx: CoreContext): void {
  if (ctx.method === 'HEAD' || ctx.headerSent || !ctx.writable || ctx.respond === false) return;
  const body = directBodyOf(ctx.response);
  if (!body) return sendWhole(ctx);
  ctx.respond = false;
  body[sendTo](ctx.res);
}

/**
 * Array of the open requests, each with its index. Not a Set: V8 keeps a Set's outgrown tables chained in old
 * space, which holds their entries in memory and slows every minor GC.
 */
class OpenExchanges {
  readonly #all: Exchange[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#all.push(exchange) - 1;
  }

  /** Removes an exchange; the last one takes its index. */
  delete({ place }: Exchange): void {
    const last = this.#all.pop();
    if (!last || last.place === place) return;
    last.place = place;
    this.#all[place] = last;
  }

  /** Snapshot of the open exchanges. */
  list(): readonly Exchange[] {
    return [...this.#all];
  }
}
