import type Koa from 'koa';
import { GatewayError, isGatewayError, type Clock } from '../../../plugin/index.js';
import type { Interceptor, StagePlace } from '../../../plugin/core.js';
import { isHeaderValue } from '../../../plugin/upstream/index.js';
import { originalContext, type AnyContext, contextView } from '../stage/context-view.js';
import type { RequestTrace } from '../../trace/request-trace.js';

/** Limits of a pipeline entry on its stage. */
export interface StageLimits {
  /** Time limit for the stage's own time, until it calls `next`. */
  readonly timeoutMs: number | undefined;
  /** Timers of the limit. */
  readonly clock: Clock;
  /**
   * State keys to restore if the stage fails and the request continues without it; undefined: the request fails too.
   */
  readonly skips: readonly string[] | undefined;
  /** Called for each skip. */
  readonly onSkip?: ((state: object, error: unknown) => void) | undefined;
  /** Views of contexts that the middleware was given, for the stage's interceptor, which may know them again. */
  readonly views: WeakMap<object, AnyContext>;
}

/** Middleware with a time limit, which requests continue without if the entry allows that. */
export function limited(middleware: Koa.Middleware, place: StagePlace, limits: StageLimits): Koa.Middleware {
  return async (ctx, next) => {
    const state = ctx.state as Record<string, unknown>; // Koa types its state as anything
    const before = limits.skips && keptKeys(state, limits.skips);
    const attempt = new Attempt(next, limits);
    try {
      await attempt.run(middleware, ctx);
      if (before && !attempt.hasPassed && !hasAnswer(ctx)) throw new Error('It ended without an answer.');
    } catch (error) {
      if (!before || attempt.hasPassed || isAnswer(error) || ctx.req?.socket?.destroyed) throw error;
      putBack(state, before);
      leaveList(state, place);
      reportSkip(ctx, place, error);
      limits.onSkip?.(state, error);
      await next();
    }
  };
}

/** One run of a stage, up to its `next`. */
class Attempt {
  readonly #next: Koa.Next;
  readonly #limits: StageLimits;
  readonly #opening: Opening = { isOpen: true };
  #cancelTimer: (() => void) | undefined;
  #hasPassed = false;

  constructor(next: Koa.Next, limits: StageLimits) {
    this.#next = next;
    this.#limits = limits;
  }

  /** True once the stage has called `next` in time. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  async run(middleware: Koa.Middleware, ctx: Parameters<Koa.Middleware>[0]): Promise<void> {
    const { timeoutMs: ms, views, clock } = this.#limits;
    if (ms === undefined) return void (await middleware(ctx, this.#pass));
    const late = new Promise<never>((_resolve, reject) => {
      this.#cancelTimer = clock.setTimer(() => {
        this.#opening.isOpen = false;
        reject(new Error(`It did not call next within its timeout of ${ms / 1000} s.`));
      }, ms);
    });
    try {
      const view = whileOpen(ctx, this.#opening);
      views.set(originalContext(ctx), view);
      const work = (async () => middleware(view, this.#pass))();
      await Promise.race([work, late]);
    } finally {
      this.#cancelTimer?.();
    }
  }

  readonly #pass = (): Promise<unknown> => {
    if (!this.#opening.isOpen) return tooLate();
    this.#cancelTimer?.();
    this.#hasPassed = true;
    return this.#next();
  };
}

/** Result of a `next()` after the time limit; not reported if the stage does not wait for it. */
function tooLate(): Promise<never> {
  const refusal = Promise.reject(new GatewayError('internal', 'The stage called next too late.'));
  refusal.catch(() => undefined); // dropped
  return refusal;
}

/** True for an error that is the stage's answer to the caller, such as a 429, rather than a fault. */
export function isAnswer(error: unknown): boolean {
  if (isGatewayError(error)) return error.status < 500;
  if (!(error instanceof Error)) return false;
  const { status, expose } = error as Error & { readonly status?: unknown; readonly expose?: unknown }; // as of http-errors
  return expose === true && typeof status === 'number' && status < 500;
}

function hasAnswer({ status, body, headerSent, respond }: Parameters<Koa.Middleware>[0]): boolean {
  return status !== 404 || body !== undefined || headerSent || respond === false;
}

type Kept = readonly (readonly [key: string, value: unknown, isThere: boolean])[];

function keptKeys(state: Readonly<Record<string, unknown>>, keys: readonly string[]): Kept {
  return keys.map((key) => [key, state[key], key in state]);
}

function putBack(state: Record<string, unknown>, kept: Kept): void {
  for (const [key, value, isThere] of kept)
    if (isThere) state[key] = value;
    else delete state[key];
}

/** Removes the stage's interceptor from the request's list, as it may rely on its unfinished middleware. */
function leaveList(state: Record<string, unknown>, place: StagePlace): void {
  const { interceptors } = state as { readonly interceptors?: readonly Interceptor[] }; // of the core
  const rest = interceptors?.filter((interceptor) => interceptor.place !== place);
  if (rest && rest.length !== interceptors?.length) state['interceptors'] = Object.freeze(rest);
}

/** Logs, counts and traces that a request continues without a stage, and tells its caller in `x-gw-skipped`. */
export function reportSkip({ state, response }: Skipping, place: StagePlace, error: unknown): void {
  const { stage, path, at, meter } = place;
  const { trace, log } = state as { readonly trace: RequestTrace; readonly log: Log }; // of the core
  meter?.skip();
  trace.clock.skip(place);
  const others: string | undefined = response.get('x-gw-skipped'); // undefined without one, despite its type
  if (!response.headerSent && isHeaderValue(stage))
    response.set('x-gw-skipped', others ? `${others}, ${stage}` : stage);
  log.warn({ stage, path, at, err: error }, 'A stage failed and was skipped.');
}

interface Skipping {
  readonly state: object;
  readonly response: Pick<Koa.Response, 'get' | 'set' | 'headerSent'>;
}

interface Log {
  warn(fields: object, message: string): void;
}

/** True until the time of a stage is over. */
interface Opening {
  isOpen: boolean;
}

/**
 * View of a request's context for a stage with a time limit, which drops changes after that time, as the request has
 * continued without the stage.
 */
function whileOpen(ctx: AnyContext, opening: Opening): AnyContext {
  const state = new Proxy<object>(ctx.state, {
    get: (target, key) => Reflect.get(target, key), // its getters read private fields of the state itself
    set: (target, key, value) => !opening.isOpen || Reflect.set(target, key, value),
    deleteProperty: (target, key) => !opening.isOpen || Reflect.deleteProperty(target, key),
    defineProperty: (target, key, shape) => !opening.isOpen || Reflect.defineProperty(target, key, shape),
  });
  return contextView(ctx, state, () => opening.isOpen);
}
