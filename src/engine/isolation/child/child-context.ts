import type { WireContext, WireCoreKey } from '../wire/protocol.js';
import { childLog } from './child-log.js';

interface ContextParts {
  readonly ctx: WireContext;
  readonly values: Record<string, unknown>;
  readonly keys: { readonly readable: readonly string[]; readonly settable: readonly string[] };
  readonly note: (method: string, params: unknown) => void;
  /** Writes a warning to the log of the stage, which outlives the request. */
  readonly warn: (fields: object, message: string) => void;
}

/** Context of a request for the stage, and what the stage has done with it. */
export interface ChildContext {
  readonly ctx: object;
  /** Takes the changes since the last time. */
  take(): {
    readonly changed: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly listens: boolean;
  };
  /** Ends the request: aborts its signal, and calls the listeners. */
  settle(outcome: string): Promise<void>;
}

type Listener = (outcome: string) => unknown;

/** Numbers of requests by their contexts. */
export const requestNumbers = new WeakMap<object, number>();

/** The part of a Koa context that a stage has in a child process. */
export function contextOf(parts: ContextParts): ChildContext {
  const changed = new Map<string, unknown>();
  const headers = new Map<string, string>();
  const listeners: Listener[] = [];
  const ending = new AbortController();
  const state = stateOf(parts, changed, coreOf(parts, ending.signal, listeners));
  return {
    ctx: viewOf(parts.ctx, state, headers),
    take() {
      const taken = {
        changed: Object.fromEntries(changed),
        headers: Object.fromEntries(headers),
        listens: listeners.length > 0,
      };
      changed.clear();
      headers.clear();
      return taken;
    },
    async settle(outcome) {
      ending.abort();
      await Promise.all(listeners.map(async (listener) => listener(outcome)));
    },
  };
}

function coreOf(
  { ctx, note, warn }: ContextParts,
  signal: AbortSignal,
  listeners: Listener[],
): Record<string, unknown> {
  const { requestId, operation, format, pipeline } = ctx;
  return {
    requestId,
    operation,
    format,
    signal,
    log: childLog((level, fields, message) => note('requestLog', [level, fields, message])),
    onSettled: (listener: Listener) => void listeners.push(listener),
    trace: {
      pipeline,
      tag: (name: string, value: string) =>
        signal.aborted ? warn({ id: requestId, tag: name }, lateTag) : note('tag', [name, value]),
    },
  } satisfies Record<WireCoreKey, unknown>;
}

const lateTag =
  'A usage tag was ignored: those that an isolated stage sets in onSettled come after the request is recorded.';

/** State with the keys that the stage has declared, and a part of those of the core. */
function stateOf(
  { values, keys }: ContextParts,
  changed: Map<string, unknown>,
  core: Record<string, unknown>,
): object {
  const readable = new Set([...keys.readable, ...Object.keys(core)]);
  const settable = new Set(keys.settable);
  const known = { ...values, ...core };
  return new Proxy<Record<string, unknown>>(known, {
    get(target, key) {
      if (typeof key === 'string' && !readable.has(key)) throw undeclared('reads', key, 'requires');
      return Reflect.get(target, key);
    },
    set(target, key, value) {
      if (typeof key !== 'string' || !settable.has(key)) throw undeclared('sets', String(key), 'provides');
      if (target[key] !== value) changed.set(key, value);
      return Reflect.set(target, key, value);
    },
    deleteProperty: (_, key) => {
      throw undeclared('deletes', String(key), 'provides');
    },
  });
}

function undeclared(does: string, key: string, list: string): TypeError {
  const why = coreOnly.has(key)
    ? 'which is not available to an isolated stage'
    : `which it does not declare; add "${key}" to its ${list}`;
  return new TypeError(`The stage ${does} ctx.state.${key}, ${why}.`);
}

const coreOnly: ReadonlySet<string> = new Set(['interceptors', 'additions']);

/** Context with what callers have sent, and headers for the answer. */
function viewOf(
  { method, path, querystring, headers: sent }: WireContext,
  state: object,
  answer: Map<string, string>,
): object {
  const get = (name: string): string => [sent[name.toLowerCase()] ?? ''].flat().join(', ');
  const set = (given: string | Readonly<Record<string, string>>, value = ''): void => {
    if (typeof given !== 'string') for (const [name, text] of Object.entries(given)) answer.set(name, text);
    else answer.set(given, value);
  };
  const query = Object.fromEntries(new URLSearchParams(querystring));
  const request = { method, path, querystring, query, headers: sent, header: sent, get };
  const response = { set, get: (name: string) => answer.get(name) ?? '' };
  const view = {
    ...request,
    state,
    set,
    request,
    response,
    req: { method, url: path, headers: sent },
    throw: refuse,
  };
  return Object.defineProperties(view, notThere);
}

/** Throws an error that answers the caller, as `ctx.throw(403, 'text')` of Koa. */
function refuse(status: number, message = 'The request was refused.'): never {
  throw Object.assign(new Error(message), { status, expose: status < 500 });
}

/** Members of the answer, which the gateway writes. */
const notThere = Object.fromEntries(
  ['body', 'status', 'type', 'res', 'respond'].map((name) => [
    name,
    {
      get: () => undefined,
      set(): never {
        throw new TypeError(
          `ctx.${name} cannot be set by an isolated stage; throw a GatewayError, or intercept.`,
        );
      },
    },
  ]),
);
