import type { Host, Limits, Logger, Metrics, PickPolicy } from '../plugin/index.js';

/** What the gateway lends to every stage of a pipeline. */
export interface HostServices extends Omit<Host, 'policies' | 'announce' | 'onDispose'> {
  /** The policies that every pipeline starts with, by name. */
  readonly builtinPolicies: Readonly<Record<string, () => PickPolicy>>;
}

/** What the stages of one pipeline have registered. */
export interface Registrations {
  readonly policies: Host['policies'];
  readonly disposers: Disposers;
  limits: Limits;
}

/** The host of one stage: its log lines name it, and what it registers ends with its pipeline. */
export function stageHost(services: HostServices, stage: string, registrations: Registrations): Host {
  const { log, models, slots, formats, keys, store, live } = services;
  return {
    log: log.child({ stage }),
    models,
    slots,
    formats,
    keys,
    store,
    live,
    metrics: stageMetrics(services.metrics, registrations.disposers),
    policies: registrations.policies,
    isOfficialClient: (userAgent) => services.isOfficialClient(userAgent),
    now: () => services.now(),
    announce: (limits) => {
      registrations.limits = { ...registrations.limits, ...limits };
    },
    onDispose: (dispose) => registrations.disposers.add(dispose),
  };
}

/** What a pipeline has counted goes on in the next one; its caches end with it. */
function stageMetrics(metrics: Metrics, disposers: Disposers): Metrics {
  return {
    counter: (...args) => metrics.counter(...args),
    histogram: (...args) => metrics.histogram(...args),
    cache(name, read) {
      const stop = metrics.cache(name, read);
      disposers.add(stop);
      return stop;
    },
  };
}

/** Policies of one pipeline; `get` throws an Error that names those there are. A later one of a name replaces it. */
export function createPolicies(builtin: HostServices['builtinPolicies']): Host['policies'] {
  const known = new Map(Object.entries(builtin));
  return {
    get(name) {
      const make = known.get(name);
      if (!make) throw new Error(`there is no policy "${name}"; there are ${[...known.keys()].join(', ')}`);
      return make();
    },
    register: (name, make) => void known.set(name, make),
  };
}

type Dispose = () => void | Promise<void>;

/** What is to be done at a pipeline's end, last registered first; one that fails does not keep the others from it. */
export class Disposers {
  readonly #log: Logger;
  readonly #pending: Dispose[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  add(dispose: Dispose): void {
    this.#pending.push(dispose);
  }

  async run(): Promise<void> {
    for (const dispose of this.#pending.splice(0).toReversed()) await this.#attempt(dispose);
  }

  async #attempt(dispose: Dispose): Promise<void> {
    try {
      await dispose();
    } catch (error) {
      this.#log.error({ err: error }, 'A stage could not be disposed.');
    }
  }
}
