import path from 'node:path';
import { requireCallArguments } from '../engine/pipeline/call/call-options.js';
import { EventHub } from '../engine/pipeline/stage/event-hub.js';
import { KeptState } from '../engine/pipeline/stage/kept-state.js';
import { pluginStorage } from '../engine/pipeline/stage/plugin-storage.js';
import {
  systemClock,
  type CallSupport,
  type CatalogModel,
  type Clock,
  type Host,
  type HostCallOptions,
  type Logger,
  type MessagesRequest,
  type ModelReply,
  type Models,
  type PickPolicy,
} from '../plugin/index.js';
import type { Keys, Limits, StageRoute } from '../plugin/core.js';
import { CatalogModels } from '../engine/models/models.js';
import { eventsOf, messageEvents, replyOf } from './events.js';
import { fakeFormat } from './fake-format.js';
import { MemoryHub } from '../state/live/memory/hub.js';
import { createCipher } from '../state/store/credential-cipher.js';
import { MemoryStore } from '../state/store/memory/store.js';
import { openHttpClient } from '../engine/transport/http-client.js';
import { openStageClient } from '../engine/transport/stage-client.js';
import { fakeSlots } from './fake-slots.js';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

export interface FakeHost extends Host {
  /** All logged lines, those of child loggers included. */
  readonly logged: readonly LogLine[];
  /** Routes that the stage has brought. */
  readonly routes: readonly StageRoute[];
  /** Calls by `host.call`, with checked arguments; each is answered by one short turn, or by `overrides.call`. */
  readonly calls: readonly FakeCall[];
  /** Parts of `host.call` that the stage has brought, in order. */
  readonly supports: readonly CallSupport[];
  /** Calls the listeners of `host.events`, as the gateway does. */
  readonly emit: EventHub['emit'];
  /** Runs the `onDispose` callbacks, last first, as at the end of a pipeline. */
  dispose(): Promise<void>;
}

/** Call by `host.call`. */
export interface FakeCall {
  readonly request: MessagesRequest;
  readonly options: HostCallOptions;
}

const noMetrics: Host['metrics'] = {
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  cache: () => () => undefined,
};

/**
 * Fake host without a network: one model in the catalog (`test-model`), no slots, formats that pass Messages through,
 * an empty store, a clock fixed at 2026-01-01 with running timers. `overrides` replaces any part; one of `now` and
 * `clock` suffices.
 */
export function fakeHost(overrides: Partial<Host> = {}): FakeHost {
  const logged: LogLine[] = [];
  const routes: StageRoute[] = [];
  const disposers: (() => void | Promise<void>)[] = [];
  let announced: Limits = {};
  const { now = overrides.clock?.now ?? newYear } = overrides;
  const clock: Clock = overrides.clock ?? { ...systemClock, now };
  const store = new MemoryStore({ now });
  const log = recorder(logged);
  const onDispose: Host['onDispose'] = (dispose) => void disposers.push(dispose);
  const hub = new EventHub({ dropped: { add: () => undefined } });
  const name = overrides.name ?? 'test';
  return {
    name,
    connect: connector({ name, log, clock }, disposers),
    log,
    models: fakeModels({ id: 'test-model' }),
    slots: fakeSlots(),
    formats: { get: (name) => fakeFormat(name) },
    keys: fakeKeys({}),
    store,
    storage: pluginStorage(store.spaces, 'test', now),
    live: new MemoryHub({ now }).connect(),
    metrics: noMetrics,
    events: hub.of({ name: 'test', log, onDispose }),
    policies: fakePolicies(),
    announce: (limits) => void (announced = { ...announced, ...limits }),
    limits: () => announced,
    route: (route) => void routes.push(route),
    isLocal: true,
    dry: false,
    notice: () => undefined,
    secrets: createCipher('a key of tests'),
    isOfficialClient: () => false,
    pseudonym: async (text) => `pseudonym-of-${text.length}`,
    now,
    clock,
    resolvePath: (file) => path.resolve(file),
    keep: new KeptState().keeper('test', onDispose),
    onDispose,
    ...overrides,
    ...fakeCalls(overrides),
    logged,
    routes,
    emit: (name, event) => hub.emit(name, event),
    async dispose() {
      for (const dispose of disposers.splice(0).toReversed()) await dispose();
    },
  };
}

/** Calls by `host.call`, and the parts of it that a stage brings. */
function fakeCalls({
  call = shortTurn,
  supportCalls,
}: Partial<Host>): Pick<FakeHost, 'call' | 'calls' | 'supportCalls' | 'supports'> {
  const calls: FakeCall[] = [];
  const supports: CallSupport[] = [];
  return {
    calls,
    supports,
    async call(request, options) {
      requireCallArguments(request, options);
      calls.push({ request, options });
      return call(request, options);
    },
    supportCalls(support) {
      supports.push(support);
      supportCalls?.(support);
    },
  };
}

/** Answer of one short turn. */
async function shortTurn({ model }: MessagesRequest): Promise<ModelReply> {
  return { ...replyOf(eventsOf(messageEvents())), model };
}

function connector(
  parts: Parameters<typeof openStageClient>[3],
  disposers: Pick<(() => void | Promise<void>)[], 'push'>,
): Host['connect'] {
  return async (url, settings = {}) => {
    const client = openStageClient(openHttpClient, url, settings, parts);
    disposers.push(() => client.close());
    return client;
  };
}

function newYear(): number {
  return Date.UTC(2026, 0, 1);
}

/** Catalog of the given models, with defaults filled in. */
export function fakeModels(...models: readonly (Partial<CatalogModel> & { readonly id: string })[]): Models {
  return new CatalogModels(models.map(catalogModel));
}

/** A model of the catalog, with defaults for missing fields. */
export function catalogModel(model: Partial<CatalogModel> & { readonly id: string }): CatalogModel {
  return {
    displayName: model.id,
    upstreamModel: model.id,
    maxTokens: 128_000,
    forcedToolChoice: true,
    sampling: true,
    thinking: 'adaptive',
    webSearch: true,
    aliases: [],
    created: 1_767_225_600,
    ...model,
  };
}

/** Fake key check; `known`: its results by key, as a caller sends it. */
export function fakeKeys(known: Readonly<Record<string, Awaited<ReturnType<Keys['check']>>>>): Keys {
  return { check: async (key) => (Object.hasOwn(known, key) ? known[key] : undefined) };
}

function fakePolicies(): Host['policies'] {
  const policies = new Map<string, () => PickPolicy>([
    ['least-loaded', () => (candidates) => candidates.reduce((a, b) => (b.inFlight < a.inFlight ? b : a))],
  ]);
  return {
    get(name) {
      const make = policies.get(name);
      if (!make) throw new TypeError(`Unknown policy "${name}".`);
      return make();
    },
    register: (name, make) => void policies.set(name, make),
  };
}

function recorder(lines: LogLine[], bound: object = {}): Logger {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...bound, ...fields }, message });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}
