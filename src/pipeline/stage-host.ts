import type { Host, Limits, Metrics, PickPolicy } from '../plugin/index.js';
import type { Disposers } from './disposers.js';
import type { LoadedStage } from './load-stages.js';

/** What the gateway lends to every stage of a pipeline. */
export interface HostServices extends Omit<Host, 'policies' | 'announce' | 'limits' | 'onDispose'> {
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
export function stageHost(services: HostServices, stage: LoadedStage, registrations: Registrations): Host {
  const { log, models, slots, formats, keys, store, live } = services;
  const { disposers } = registrations;
  return {
    log: log.child({ stage: stage.plugin.name }),
    models,
    slots,
    formats,
    keys,
    store,
    live,
    metrics: stageMetrics(services.metrics, (stop) => disposers.add(stop, stage)),
    policies: registrations.policies,
    isOfficialClient: (userAgent) => services.isOfficialClient(userAgent),
    pseudonym: (text) => services.pseudonym(text),
    now: () => services.now(),
    announce: (limits) => {
      registrations.limits = { ...registrations.limits, ...limits };
    },
    limits: () => registrations.limits,
    onDispose: (dispose) => disposers.add(dispose, stage),
  };
}

/** What a pipeline has counted goes on in the next one; its caches end with it. */
function stageMetrics(metrics: Metrics, onDispose: Host['onDispose']): Metrics {
  return {
    counter: (...args) => metrics.counter(...args),
    histogram: (...args) => metrics.histogram(...args),
    cache(name, read) {
      const stop = metrics.cache(name, read);
      onDispose(stop);
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
