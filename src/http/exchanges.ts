import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendTo, type DirectBody, type GatewayError, type Logger, type Outcome } from '../plugin/index.js';
import { BodyWatch } from './body-watch.js';
import { Exchange, type CoreContext } from './exchange.js';
import { closeLingering, lingerAfterAnswer } from './lingering-close.js';
import { OpenExchanges } from './open-exchanges.js';
import { requestIdOf } from './request-id.js';

export interface ExchangesOptions {
  readonly log: Logger;
  readonly now: () => number;
  /** Called when a response has closed, after the request's own listeners. */
  onSettled(exchange: Exchange, outcome: Outcome): void;
}

/** The requests under way. */
export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #open = new OpenExchanges();
  readonly #idleWaiters: (() => void)[] = [];
  #watch: BodyWatch | undefined;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  /** The outermost middleware: seeds the state, echoes the request id, sees the response close. */
  readonly middleware = async (ctx: CoreContext, next: () => Promise<void>): Promise<void> => {
    const { log, now } = this.#options;
    const requestId = requestIdOf(ctx.get('x-request-id') || undefined);
    ctx.res.setHeader('x-request-id', requestId);
    ctx.res.setHeader('x-content-type-options', 'nosniff');
    const exchange = new Exchange(ctx, requestId, log, now());
    this.#open.add(exchange);
    ctx.res.once('close', () => this.#settled(exchange));
    await next();
    if (mayHaveMore(ctx.req)) await endWithAnswer(ctx);
    sendDirectly(ctx);
  };

  /** Refuses requests whose bodies come too slowly, until `close`. */
  watchBodies(idleTimeoutMs: number): void {
    this.#watch = new BodyWatch(() => this.#open.list(), idleTimeoutMs);
  }

  close(): void {
    this.#watch?.close();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Their responses. */
  get responses(): readonly ServerResponse[] {
    return this.#open.list().map(({ ctx }) => ctx.res);
  }

  /** The requests under way that are for a model or about one; whoever looks on by the console is none of them. */
  get calls(): number {
    return this.#open.list().filter(({ state }) => state.operation !== 'other').length;
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => void this.#idleWaiters.push(resolve));
  }

  /** Ends every request under way; their callers are told `reason`. */
  abortAll(reason: GatewayError): void {
    for (const exchange of this.#open.list()) exchange.abort(reason);
  }

  #settled(exchange: Exchange): void {
    this.#open.delete(exchange);
    const { req } = exchange.ctx;
    if (mayHaveMore(req)) setImmediate(() => mayHaveMore(req) && closeLingering(req.socket)); // answered by some middleware itself
    exchange.onSettled((outcome) => this.#options.onSettled(exchange, outcome));
    if (this.#open.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

/**
 * An answer that comes before the request's body has ends the connection: nobody is going to read the rest of it. What has
 * come with the headers is parsed first.
 */
async function endWithAnswer({ req, res }: CoreContext): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (!mayHaveMore(req)) return;
  if (!res.headersSent) res.setHeader('connection', 'close');
  lingerAfterAnswer(req.socket);
}

/** True for a request whose body has not wholly come, on a connection that is still open. */
function mayHaveMore({ complete, headers, socket }: IncomingMessage): boolean {
  if (complete || socket.destroyed || socket.writableEnded) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A body that can write itself does so, where no stage has put another one around it. */
function sendDirectly(ctx: CoreContext): void {
  const body = ctx.body as Partial<DirectBody> | null | undefined; // whatever it is, it has the method or not
  if (!body?.[sendTo] || ctx.method === 'HEAD' || ctx.headerSent || !ctx.writable || ctx.respond === false)
    return;
  ctx.respond = false;
  body[sendTo](ctx.res);
}
