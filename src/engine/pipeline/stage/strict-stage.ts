import {
  type Plugin,
  type MessagesRequest,
  type Intercept,
  type ModelCall,
  type ModelReply,
  type StageContext,
  EventStream,
} from '../../../plugin/index.js';
import { coreKeys, type StagePlace, StrictEvents } from '../../../plugin/core.js';
import { contextView, originalContext, type AnyContext } from './context-view.js';
import type { RequestTrace } from '../../trace/request-trace.js';
import type { ReadyParts } from './stage-parts.js';
import { shapeFault } from '../../trace/state-shapes.js';

/** A stage whose use of the state is checked. */
export interface StrictTerms extends Pick<Plugin, 'requires' | 'reads' | 'provides'> {
  /** Stages above it that provide a key, to blame if it is missing. */
  readonly providers?: ReadonlyMap<string, StagePlace>;
}

/**
 * Parts that may read and set only the declared keys of the state, cannot write into a request in place, and must give
 * each key the shape of its type. Throw at each violation.
 */
export function strictParts(parts: ReadyParts, terms: StrictTerms): ReadyParts {
  const { middleware, intercept, outermost, applies } = parts;
  const view = strictView(terms);
  // A view of the context that the stage was given.
  const own = (ctx: StageContext<never, never>) => view(originalContext(ctx)) as unknown as typeof ctx;
  const wrapped =
    (wrap: Intercept): Intercept =>
    async (request, call, ctx) => {
      const given: unknown[] = [];
      const noted: ModelCall = async (...args) => {
        const reply = await strictCall(request, call)(...args);
        given.push(reply.events);
        return reply;
      };
      const reply = await wrap(deepFrozen(request), noted, own(ctx));
      return given.includes(eventsOf(reply)) ? reply : strictReply(reply);
    };
  return {
    ...parts,
    middleware: middleware && ((ctx, next): unknown => middleware(view(ctx), next)),
    intercept: intercept && wrapped(intercept),
    outermost: outermost && wrapped(outermost),
    applies: applies && ((ctx) => applies(own(ctx))),
  };
}

/** Call with a valid request, unless it is the one that the interceptor was given. */
function strictCall(given: MessagesRequest, call: ModelCall): ModelCall {
  return (request, options) => {
    if (request !== given) requireShape('request', request);
    return call(deepFrozen(request), options);
  };
}

/** One view for each context or view of it, so that a stage can recognise a context. */
function strictView(terms: StrictTerms): (ctx: AnyContext) => AnyContext {
  const handler = rulesOf(terms);
  const views = new WeakMap<AnyContext, AnyContext>();
  return (ctx) => {
    const key = originalContext(ctx);
    const view = views.get(key) ?? contextView(ctx, new Proxy<object>(ctx.state, handler));
    views.set(key, view);
    return view;
  };
}

function rulesOf({
  requires,
  reads = [],
  provides,
  providers = new Map(),
}: StrictTerms): ProxyHandler<object> {
  const settable = new Set<string>(provides);
  const readable = new Set<string>([...coreKeys, ...requires, ...reads, ...provides]);
  if (readable.has('reply')) readable.add('count'); // takes its place in count-tokens
  const requireSettable = (key: string | symbol): void => {
    if (typeof key === 'string' && !settable.has(key)) throw undeclared('sets', key, 'provides');
  };
  return {
    get(state, key) {
      const value: unknown = Reflect.get(state, key);
      if (typeof key === 'symbol') return value;
      if (!readable.has(key)) throw undeclared('reads', key, 'requires');
      if (value === undefined && requires.some((name) => name === key)) throw absent(state, key, providers);
      return key === 'request' ? deepFrozen(value) : value;
    },
    set(state, key, value) {
      requireSettable(key);
      if (typeof key === 'string' && value !== Reflect.get(state, key)) requireShape(key, value);
      return Reflect.set(state, key, strictValue(state, key, value));
    },
    deleteProperty(state, key) {
      requireSettable(key);
      return Reflect.deleteProperty(state, key);
    },
    defineProperty(state, key, shape) {
      requireSettable(key);
      return Reflect.defineProperty(state, key, shape);
    },
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  };
}

/** Value of a key from a stage: a read-only request, or a reply whose new events are checked. */
function strictValue(state: object, key: string | symbol, value: unknown): unknown {
  if (key === 'request') return deepFrozen(value);
  const before: unknown = Reflect.get(state, key);
  return key === 'reply' && eventsOf(value) !== eventsOf(before) ? strictReply(value) : value;
}

function eventsOf(reply: unknown): unknown {
  return (Object(reply) as Partial<ModelReply>).events; // any object has properties
}

function undeclared(does: string, key: string, list: string): TypeError {
  return new TypeError(
    `The stage ${does} ctx.state.${key}, which it does not declare; add "${key}" to its ${list}.`,
  );
}

/** Error for a key that a stage above has declared but not set; blames that stage. */
function absent(state: object, key: string, providers: ReadonlyMap<string, StagePlace>): TypeError {
  const by = providers.get(key);
  const who = by ? `The stage "${by.stage}" provides` : 'No stage above provided';
  const error = new TypeError(`${who} "${key}"${by ? ', but left none' : ''}.`);
  const { trace } = state as { readonly trace: RequestTrace }; // of the core
  if (by) trace.blame(error, by);
  return error;
}

function requireShape(key: string, value: unknown): void {
  const fault = shapeFault(key, value) ?? (key === 'request' ? jsonFault(value) : undefined);
  if (fault) throw new TypeError(`The stage leaves a ctx.state.${key} that ${fault}.`);
}

/** Fault of a circular value, or of a number too large for JSON. */
function jsonFault(value: unknown): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return `is not JSON: ${(error as Error).message.split('\n', 1)[0]}`; // a TypeError or RangeError
  }
}

/** A reply whose events are checked on their way; anything else as it is. */
function strictReply<Value>(reply: Value): Value {
  const events = eventsOf(reply);
  return events instanceof EventStream ? { ...reply, events: events.through(new StrictEvents()) } : reply;
}

/** Freezes lists and plain objects, recursively, each once; frozen ones count as done. */
function deepFrozen<Value>(value: Value): Value {
  const open = new Set<unknown>([value]);
  for (const next of open) {
    // A set also iterates over what is added meanwhile.
    if (!isPlain(next)) continue;
    if (next !== value && Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) if (isPlain(inner)) open.add(inner);
  }
  return value;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
