import path from 'node:path';
import { systemClock, type Clock } from '../../../kit/time/clock.js';
import { CatalogModels } from '../../models/models.js';
import type { CatalogModel, Host } from '../../../plugin/index.js';
import type { GatewayPort, WireHost, WireTime } from '../wire/protocol.js';
import { childCall } from './child-call.js';
import { childLog } from './child-log.js';

/** Members of the host that stay in the gateway. */
const absent = [
  'slots',
  'formats',
  'keys',
  'store',
  'live',
  'secrets',
  'events',
  'policies',
  'connect',
  'route',
  'supportCalls',
  'limits',
  'isOfficialClient',
  'pseudonym',
] as const satisfies readonly (keyof Host)[];

/** Host of one set-up of the stage: the parts of the gateway that it may use. */
export class ChildHost {
  readonly host: object;
  readonly #port: GatewayPort;
  readonly #instance: number;
  #time: WireTime;
  readonly #timers = new Map<number, () => void>();
  #lastTimer = 0;
  #lastMetric = 0;
  readonly #caches = new Map<string, () => unknown>();
  readonly #kept = new Map<string, unknown>();
  readonly #disposers: (() => unknown)[] = [];

  constructor(port: GatewayPort, instance: number, given: WireHost) {
    this.#port = port;
    this.#instance = instance;
    this.#time = given.time;
    const { name, isLocal, dry, baseDir } = given;
    const clock = dry ? this.#gatewayClock() : systemClock;
    this.host = Object.assign(Object.create(refusals), {
      name,
      isLocal,
      dry,
      log: childLog((level, fields, message) => this.#note('log', [level, fields, message])),
      models: this.#models(given),
      metrics: this.#metrics(),
      storage: this.#storage(),
      clock,
      now: clock.now,
      announce: (limits: unknown) => this.#note('announce', limits),
      notice: (text: unknown) => this.#note('notice', text),
      call: childCall(port, instance),
      keep: (key: string, make: () => unknown) => this.#keep(key, make),
      resolvePath: (file: string) => path.resolve(baseDir, file),
      onDispose: (dispose: () => unknown) => void this.#disposers.push(dispose),
    }) as object;
  }

  /** Time of a clock that the gateway moves. */
  setTime(time: WireTime): void {
    this.#time = time;
  }

  fire(timer: number): void {
    const callback = this.#timers.get(timer);
    this.#timers.delete(timer);
    callback?.();
  }

  /** Fill levels of the caches by their names. */
  caches(): object {
    return Object.fromEntries([...this.#caches].map(([name, read]) => [name, read()]));
  }

  /** Runs the clean-ups in reverse order. */
  async dispose(): Promise<void> {
    for (const dispose of this.#disposers.splice(0).toReversed()) await dispose();
  }

  #note(method: string, params: unknown): void {
    this.#port.note(method, [this.#instance, params]);
  }

  #models({ models, listed }: WireHost): object {
    // Both are of the gateway's own catalog.
    const catalog = new CatalogModels(models as readonly CatalogModel[]);
    return {
      find: (name: string) => catalog.find(name),
      idOf: (name: string) => catalog.idOf(name),
      list: () => catalog.list(),
      listed: () => listed,
      profile: (name: string) => catalog.profile(name),
      learn: (name: string, profile: unknown) => this.#note('learn', [name, profile]),
    };
  }

  #metrics(): Host['metrics'] {
    const define = (kind: string, given: readonly unknown[]): number => {
      const id = ++this.#lastMetric;
      this.#note('metric', [id, kind, given]);
      return id;
    };
    return {
      counter: (...given) => {
        const id = define('counter', given);
        return { add: (labels, amount = 1) => this.#note('measure', [id, labels, amount]) };
      },
      histogram: (...given) => {
        const id = define('histogram', given);
        return { observe: (labels, value) => this.#note('measure', [id, labels, value]) };
      },
      cache: (name, read) => {
        this.#caches.set(name, read);
        define('cache', [name]);
        return () => void this.#caches.delete(name);
      },
    };
  }

  #storage(): object {
    const ask = (op: string, ...args: readonly unknown[]) =>
      this.#port.call('storage', [this.#instance, op, args]);
    return {
      get: async (key: string) => (await ask('get', key)) ?? undefined,
      set: async (key: string, value: unknown, options: object = {}) =>
        void (await ask('set', key, value, options)),
      delete: (key: string) => ask('delete', key),
      list: (prefix = '', page: object = {}) => ask('list', prefix, page),
    };
  }

  /** State of this process: the next pipeline has another one. */
  #keep(key: string, make: () => unknown): unknown {
    if (!this.#kept.has(key)) this.#kept.set(key, make());
    return this.#kept.get(key);
  }

  #gatewayClock(): Clock {
    return {
      now: () => this.#time[0],
      monotonicMs: () => this.#time[1],
      setTimer: (callback, ms) => {
        const id = ++this.#lastTimer;
        this.#timers.set(id, callback);
        this.#note('timer', [id, ms]);
        return () => {
          if (this.#timers.delete(id)) this.#note('timer', [id]);
        };
      },
    };
  }
}

/** Prototype of a host whose missing members say so. */
const refusals: object = Object.defineProperties(
  {},
  Object.fromEntries(
    absent.map((name) => [
      name,
      {
        get(): never {
          throw new Error(`host.${name} is not available to an isolated stage`);
        },
      },
    ]),
  ),
);
