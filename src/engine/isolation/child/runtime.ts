import { pathToFileURL } from 'node:url';
import { isRecord } from '../../../kit/schema/record.js';
import type { EnterParams, GatewayPort, InterceptParams, SetupParams, WireTime } from '../wire/protocol.js';
import type { Streams } from '../wire/streams.js';
import { ChildHost } from './child-host.js';
import { ChildRequest } from './child-request.js';
import { partsOf, type ChildParts } from './child-parts.js';

/** Definition of a stage, as its module exports it. */
interface Definition {
  readonly requires?: readonly string[];
  readonly reads?: readonly string[];
  readonly provides?: readonly string[];
  readonly keepsPrefix?: false | ((options: unknown) => boolean);
  setup(options: unknown, host: object): unknown;
}

/** One set-up of the stage: there is one for each pipeline of the gateway. */
interface Instance {
  readonly host: ChildHost;
  readonly parts: ChildParts;
}

/** The stage of a child process, as the gateway uses it. */
export class Runtime {
  readonly #port: GatewayPort;
  readonly #streams: Streams;
  #definition: Definition | undefined;
  readonly #instances = new Map<number, Instance>();
  readonly #requests = new Map<number, ChildRequest>();

  constructor(port: GatewayPort, streams: Streams) {
    this.#port = port;
    this.#streams = streams;
  }

  /** Answers to the gateway, which sends what the protocol says. */
  readonly calls = {
    load: async (file: unknown) => {
      this.#definition = await load(String(file));
      return describe(this.#definition);
    },
    keepsPrefix: (options: unknown) => {
      const { keepsPrefix } = this.#loaded();
      return typeof keepsPrefix === 'function' ? keepsPrefix(options) : keepsPrefix !== false;
    },
    setup: (params: unknown) => this.#setUp(params as SetupParams),
    act: (params: unknown) => this.#act(params as { readonly instance: number; readonly act: Act }),
    enter: (params: unknown) => {
      const given = params as EnterParams;
      const request = this.#begin(given);
      return request.enter(this.#parts(given.instance));
    },
    intercept: (params: unknown) => {
      const given = params as InterceptParams;
      const request = this.#requests.get(given.request) ?? this.#begin(given);
      return request.intercept(given, this.#parts(given.instance));
    },
    settled: async (params: unknown) => {
      const [id, outcome] = params as readonly [number, string];
      const request = this.#requests.get(id);
      this.#requests.delete(id);
      await request?.settle(outcome);
      return null;
    },
  } satisfies Record<string, (params: unknown) => unknown>;

  readonly notes = {
    ping: (number: unknown): void =>
      this.#port.note('pong', { number, rss: process.memoryUsage.rss(), caches: this.#caches() }),
    // After what the messages before it have started.
    echo: (number: unknown): void =>
      void setImmediate(() => setImmediate(() => this.#port.note('echoed', number))),
    time: (time: unknown): void => {
      for (const { host } of this.#instances.values()) host.setTime(time as WireTime);
    },
    fire: (params: unknown): void => {
      const [instance, timer] = params as readonly [number, number];
      this.#instances.get(instance)?.host.fire(timer);
    },
  };

  async #setUp({
    instance,
    options,
    host: given,
  }: SetupParams): Promise<{ readonly parts: readonly string[] }> {
    const host = new ChildHost(this.#port, instance, given);
    this.#instances.set(instance, { host, parts: {} }); // its timers run during the set-up
    const parts = partsOf(await this.#loaded().setup(options, host.host));
    this.#instances.set(instance, { host, parts });
    return { parts: Object.keys(parts) };
  }

  async #act({ instance, act }: { readonly instance: number; readonly act: Act }): Promise<null> {
    const found = this.#instances.get(instance);
    if (act === 'dispose') this.#instances.delete(instance);
    try {
      await found?.parts[act]?.();
    } finally {
      if (act === 'dispose') await found?.host.dispose();
    }
    return null;
  }

  #begin({ instance, request: id, ctx, state }: EnterParams | InterceptParams): ChildRequest {
    if (!ctx || !state) throw new Error(`The request ${id} is unknown here.`);
    const { requires = [], reads = [], provides = [] } = this.#loaded();
    const keys = { readable: [...requires, ...reads, ...provides], settable: provides };
    const request = new ChildRequest({ id, instance, ctx, state, keys }, this.#port, this.#streams);
    this.#requests.set(id, request);
    return request;
  }

  #parts(instance: number): ChildParts {
    const found = this.#instances.get(instance);
    if (!found) throw new Error('The stage is not set up here.');
    return found.parts;
  }

  #loaded(): Definition {
    if (!this.#definition) throw new Error('The stage is not loaded here.');
    return this.#definition;
  }

  #caches(): object {
    return Object.fromEntries([...this.#instances].map(([id, { host }]) => [id, host.caches()]));
  }
}

type Act = 'start' | 'probe' | 'dispose';

async function load(file: string): Promise<Definition> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }; // a module namespace
  const exported = module.default;
  const inner = isRecord(exported) && 'default' in exported ? exported['default'] : undefined;
  const found = [exported, inner].find(isDefinition);
  if (found) return found;
  if (typeof exported === 'function' || typeof inner === 'function') throw new Error(plain);
  const names = Object.keys(module);
  const what = names.length > 0 ? `it exports ${names.join(', ')}` : 'it exports nothing';
  throw new Error(`must export default a plugin with name and setup, but ${what}`);
}

const plain =
  'is a plain Koa middleware, which cannot be isolated: it may use all of the request and the answer, which stay in the gateway; write it as a plugin';

function isDefinition(value: unknown): value is Definition {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['setup'] === 'function';
}

/** The definition as JSON; of its functions the names. */
function describe(definition: Definition): object {
  const entries = Object.entries(definition);
  const functions = entries.flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  return { fields: Object.fromEntries(entries.filter(([name]) => !functions.includes(name))), functions };
}
