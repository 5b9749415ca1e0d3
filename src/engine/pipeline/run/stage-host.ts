import type { StageConfig } from '../../../config/config.js';
import { pluginStorage } from '../stage/plugin-storage.js';
import type { Host, PickPolicy } from '../../../plugin/index.js';
import type { Limits, Metrics, StageMeter, StagePlace } from '../../../plugin/core.js';
import type { OpenCalls } from '../call/open-calls.js';
import type { PipelineCalls, PipelineCallServices } from '../call/pipeline-calls.js';
import type { EventHub } from '../stage/event-hub.js';
import type { KeptState } from '../stage/kept-state.js';
import type { Store, WholeStore } from '../../../state/store/contract/store.js';
import type { Disposers } from './disposers.js';
import type { LoadedStage } from '../load/load-stages.js';
import type { StageRoutes } from './stage-routes.js';
import type { PipelineWatch } from './watch.js';

/** Services that the gateway gives to every stage of a pipeline. */
export interface HostServices extends Omit<
  Host,
  | 'name'
  | 'connect'
  | 'policies'
  | 'announce'
  | 'notice'
  | 'limits'
  | 'route'
  | 'keep'
  | 'onDispose'
  | 'store'
  | 'storage'
  | 'events'
  | 'call'
  | 'supportCalls'
> {
  readonly store: WholeStore;
  /** Opens a client for a stage of this name. */
  readonly connectStage: (name: string, ...given: Parameters<Host['connect']>) => ReturnType<Host['connect']>;
  /** Metrics of the stages themselves, by their names. */
  readonly stageMetrics: { of(stage: string): StageMeter };
  /** The policies that every pipeline starts with, by name. */
  readonly builtinPolicies: Readonly<Record<string, () => PickPolicy>>;
  readonly kept: KeptState;
  readonly events: EventHub;
  /** Open calls of the stages of all pipelines. */
  readonly openCalls: OpenCalls;
  readonly callerOf: PipelineCallServices['callerOf'];
}

/** Registrations of the stages of one pipeline. */
export interface Registrations {
  readonly policies: Host['policies'];
  readonly disposers: Disposers;
  readonly calls: PipelineCalls;
  /** Names of the stages that the gateway has itself, whose metrics may have names of its own. */
  readonly builtins: ReadonlySet<string>;
  readonly notices: string[];
  readonly routes: StageRoutes;
  /** Limits of the default pipeline. */
  limits: Limits;
  /** Limits by the stages that have announced them. */
  readonly announced: Map<StageConfig, Limits>;
  /** Limits of the named pipelines, once all is set up. */
  readonly namedLimits: Map<string, Limits>;
  /** Stages that have a host so far, by name. */
  readonly counts: Map<string, number>;
  /** Stages by the state keys that they provide, as far as set up; undefined: keys are not checked. */
  readonly providers: Map<string, StagePlace> | undefined;
  /** Watches the requests of the pipeline; undefined without an observer. */
  readonly watch: PipelineWatch | undefined;
}

/** The host of one stage: its log lines name it, and its registrations end with its pipeline. */
export function stageHost(services: HostServices, stage: LoadedStage, registrations: Registrations): Host {
  const { log, models, slots, formats, keys, store, live, secrets } = services;
  const { disposers } = registrations;
  const { name } = stage.plugin;
  const onDispose: Host['onDispose'] = (dispose) => disposers.add(dispose, stage);
  const stageLog = log.child({ stage: name });
  return {
    name,
    log: stageLog,
    models,
    slots,
    formats,
    keys,
    store: forStages(store),
    storage: pluginStorage(store.spaces, spaceOf(stage), () => services.now()),
    live,
    secrets,
    metrics: stageMetrics(
      registrations.builtins.has(stage.config.use) ? services.metrics : foreignMetrics(services.metrics),
      onDispose,
    ),
    events: services.events.of({ name: stage.plugin.name, log: stageLog, onDispose }),
    policies: registrations.policies,
    isLocal: services.isLocal,
    dry: services.dry,
    isOfficialClient: (userAgent) => services.isOfficialClient(userAgent),
    pseudonym: (text) => services.pseudonym(text),
    now: () => services.now(),
    clock: services.clock,
    announce: (limits) => announce(limits, stage, registrations),
    notice: (text) => void registrations.notices.push(text),
    limits: (pipeline = '') => registrations.namedLimits.get(pipeline) ?? registrations.limits,
    async connect(url, settings) {
      const client = await services.connectStage(name, url, settings);
      disposers.add(() => client.close(), stage);
      return client;
    },
    call: registrations.calls.callOf(name),
    supportCalls: (support) => registrations.calls.support(stage.config, support),
    route: (route) => registrations.routes.add(stage, route),
    keep: services.kept.keeper(entryName(stage, registrations), onDispose),
    resolvePath: (file) => services.resolvePath(file),
    onDispose,
  };
}

function announce(limits: Limits, { config }: LoadedStage, registrations: Registrations): void {
  registrations.announced.set(config, { ...registrations.announced.get(config), ...limits });
  if (config.pipeline === undefined) registrations.limits = { ...registrations.limits, ...limits };
}

/**
 * Name of a stage's space: its identifier in the list, as two plugins may have one name, and its entry's own name.
 */
function spaceOf({ config: { use, name } }: LoadedStage): string {
  return name === undefined ? use : JSON.stringify([use, name]);
}

/** The store as stages see it: none reads the audit log, admin tokens, or the space of another. */
function forStages(store: WholeStore): Store {
  const { spaces: _spaces, audit: _audit, adminTokens: _tokens, ...parts } = store;
  return {
    ...parts,
    get isDown() {
      return store.isDown;
    },
    close: () => store.close(),
  };
}

/** Name of a stage that it has in the next pipeline too: `rate-limit`, and `rate-limit#2` for a second one. */
function entryName({ config, plugin }: LoadedStage, { counts }: Registrations): string {
  const name = config.pipeline === undefined ? (config.name ?? plugin.name) : plugin.name;
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
}

/** Metrics of a stage: counters continue in the next pipeline; cache gauges end with this one. */
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

/** Metrics for stages of others, which throw an Error for a name that may be one of the gateway's own. */
function foreignMetrics(metrics: Metrics): Metrics {
  return {
    counter(name, ...rest) {
      requireFree(name);
      return metrics.counter(name, ...rest);
    },
    histogram(name, ...rest) {
      requireFree(name);
      return metrics.histogram(name, ...rest);
    },
    cache: (name, read) => metrics.cache(name, read),
  };
}

function requireFree(metric: string): void {
  const [prefix] = /^(?:gw2api|process|nodejs)_/.exec(metric) ?? [];
  if (prefix === undefined) return;
  throw new Error(`"${metric}" is reserved for metrics of the gateway; use another prefix than ${prefix}`);
}

/**
 * Registry of one pipeline's policies; a later one replaces one of its name, except for those of the gateway. `get`
 * throws an Error with the known names.
 */
export function createPolicies(builtin: HostServices['builtinPolicies']): Host['policies'] {
  const known = new Map(Object.entries(builtin));
  return {
    get(name) {
      const make = known.get(name);
      if (!make) throw new Error(`unknown policy "${name}"; known policies: ${[...known.keys()].join(', ')}`);
      return named(name, make());
    },
    register(name, make) {
      if (Object.hasOwn(builtin, name))
        throw new Error(`"${name}" is a policy of the gateway; register yours under another name`);
      known.set(name, make);
    },
  };
}

/** Policy whose function has the name used in messages. */
function named(name: string, policy: PickPolicy): PickPolicy {
  const pick: PickPolicy = (candidates, call) => policy(candidates, call);
  return Object.defineProperty(pick, 'name', { value: name });
}
