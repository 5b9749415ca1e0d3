import type { MessagesRequest } from '../contract/messages.js';
import type {
  CallOptions,
  GatewayState,
  Interceptor,
  ModelCall,
  ModelReply,
  StageContext,
} from '../contract/state.js';
import { checkReply } from './check-reply.js';
import { committed } from '../events/commit.js';
import { WatchedTransform } from '../events/stream/watched-transform.js';
import { withFields } from '../raw/with-fields.js';
import { skippedReply } from './skippable.js';
import type { StagePlace } from '../contract/trace.js';

/** The list of a request that has passed no intercepting stage. */
export const noInterceptors: readonly Interceptor[] = Object.freeze([]);

/**
 * Adds an interceptor to a request's list. A list is never written into, so that all requests that have
 * passed the same stages share one.
 */
export function joining(own: Interceptor): (state: { interceptors: readonly Interceptor[] }) => void {
  let before: readonly Interceptor[] | undefined;
  let after = noInterceptors;
  return (state) => {
    if (before !== state.interceptors) {
      before = state.interceptors;
      after = Object.freeze([...before, own]);
    }
    state.interceptors = after;
  };
}

/** Trace of a request as interceptors use it; the engine's `RequestTrace` has it. */
interface InterceptedTrace {
  readonly clock: {
    wrap(place: StagePlace | undefined): void;
    moveTime(place: StagePlace, ms: number): void;
  };
  sees(request: MessagesRequest, by?: StagePlace): void;
  made(events: unknown, by?: StagePlace): void;
  blame(error: unknown, by: StagePlace | undefined): void;
  readonly firstEventAtMs: number | undefined;
  readonly versions: {
    causeOf(
      error: unknown,
      thrower: StagePlace,
      trace: { readonly firstEventAtMs: number | undefined },
    ): StagePlace;
  };
}

type WrappedContext = { readonly state: Pick<GatewayState, 'interceptors' | 'trace'> };

/** Wraps a model call in the interceptors of its request, the first one outermost. */
export function wrapCall(ctx: WrappedContext, call: ModelCall): ModelCall {
  const { interceptors } = ctx.state;
  let wrapped = call;
  let faults: Set<unknown> | undefined;
  for (let at = interceptors.length - 1; at >= 0; at -= 1) {
    const interceptor = interceptors[at];
    if (!interceptor || !applies(interceptor, ctx)) continue;
    const parts = { interceptor, inner: wrapped, ctx, faults: (faults ??= new Set()) };
    wrapped = (request, options) => new Interception(parts, options).run(request);
  }
  return wrapped;
}

function applies(interceptor: Interceptor, ctx: WrappedContext): boolean {
  try {
    return interceptor.applies?.(ctx as StageContext<never, never>) ?? true; // the context that its stage was given
  } catch (error) {
    traceOf(ctx).blame(error, interceptor.place);
    throw error;
  }
}

interface InterceptionParts {
  readonly interceptor: Interceptor;
  readonly inner: ModelCall;
  readonly ctx: WrappedContext;
  /** Errors thrown by calls, which are not an interceptor's own. */
  readonly faults: Set<unknown>;
}

/** One run of an interceptor: its time without that of its calls, its faults, and the check of its reply. */
class Interception {
  readonly #parts: InterceptionParts;
  readonly #outer: CallOptions | undefined;
  #ownMs = 0;
  #sinceMs = performance.now();
  #underWay = 0;
  /** True once a call has answered, whose events have passed the transforms above. */
  #hasAnswer = false;
  /** True once it has given its reply; a continued answer may still make calls. */
  #isOver = false;

  constructor(parts: InterceptionParts, outer: CallOptions | undefined) {
    this.#parts = parts;
    this.#outer = outer;
  }

  async run(request: MessagesRequest): Promise<ModelReply> {
    const { interceptor, ctx, faults } = this.#parts;
    const trace = traceOf(ctx);
    trace.clock.wrap(interceptor.place);
    try {
      // The context that its stage was given.
      const reply = await interceptor.intercept(request, this.#call, ctx as StageContext<never, never>);
      const passed = await this.#passed(checkReply(reply));
      trace.made(passed.events, interceptor.place);
      return passed;
    } catch (error) {
      if (!faults.has(error)) trace.blame(error, trace.versions.causeOf(error, interceptor.place, trace));
      faults.add(error);
      skippedReply(error)?.events.cancel(error);
      throw error;
    } finally {
      this.#turn(this.#underWay === 0);
      trace.clock.moveTime(interceptor.place, this.#ownMs);
      trace.clock.wrap(undefined);
      this.#isOver = true;
    }
  }

  readonly #call: ModelCall = async (request, options) => {
    if (typeof (request as Partial<MessagesRequest> | undefined)?.model !== 'string')
      throw new TypeError('call() needs a Messages request with a model.');
    this.#underWay += 1;
    this.#turn(this.#underWay === 1);
    traceOf(this.#parts.ctx).clock.wrap(undefined);
    traceOf(this.#parts.ctx).sees(request, this.#parts.interceptor.place);
    try {
      const reply = await this.#parts.inner(request, joined(this.#watched(options), this.#outer));
      traceOf(this.#parts.ctx).made(reply.events);
      this.#hasAnswer = true;
      return reply;
    } catch (error) {
      this.#parts.faults.add(error);
      throw error;
    } finally {
      this.#underWay -= 1;
      this.#turn(false);
      if (this.#underWay === 0 && !this.#isOver)
        traceOf(this.#parts.ctx).clock.wrap(this.#parts.interceptor.place);
    }
  };

  /** Options whose transforms are blamed on the stage if they fail. */
  #watched(options: CallOptions | undefined): CallOptions | undefined {
    if (!options?.through) return options;
    const { interceptor, ctx } = this.#parts;
    const onFault = (error: unknown) => traceOf(ctx).blame(error, interceptor.place);
    const through = [options.through].flat().map((make) => () => new WatchedTransform(make(), onFault));
    return { ...options, through };
  }

  /** Counts the time since the last switch, if it was the interceptor's own. */
  #turn(wasOwn: boolean): void {
    const nowMs = performance.now();
    if (wasOwn) this.#ownMs += nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
  }

  /** The reply through the transforms of the interceptors above, which no call has applied to it. */
  async #passed(reply: ModelReply): Promise<ModelReply> {
    const through = this.#outer?.through;
    if (through === undefined || this.#hasAnswer) return reply;
    const { delivery = 'whole' } = this.#parts.ctx.state as Partial<GatewayState>;
    return withFields(reply, { events: await committed(reply.events, { delivery, through }) });
  }
}

/** Options of a call with those of the calls around it, whose transforms come after its own. */
function joined(own: CallOptions | undefined, outer: CallOptions | undefined): CallOptions | undefined {
  if (!own || !outer) return own ?? outer;
  const through = [own.through ?? [], outer.through ?? []].flat();
  return {
    through: through.length > 0 ? through : undefined,
    budget: [own.budget ?? [], outer.budget ?? []].flat(),
  };
}

function traceOf({ state }: WrappedContext): InterceptedTrace {
  return state.trace as unknown as InterceptedTrace; // as RequestTrace implements it
}
