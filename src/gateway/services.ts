import { httpClients } from '../engine/slots/upstream/open-upstream.js';
import type { OpenHttpClient } from '../engine/transport/http-client.js';
import type { HostServices } from '../engine/pipeline/run/stage-host.js';
import { StartError, type Config } from '../config/config.js';
import { Audit } from '../state/audit/audit.js';
import { errorTextDays } from '../state/ledger/error-texts.js';
import type { LedgerWriter } from '../state/ledger/writer/ledger-writer.js';
import { priceGaps } from '../state/ledger/cost.js';
import type { RefusedRows } from '../state/ledger/writer/refused-rows.js';
import { openLive } from '../state/live/index.js';
import { withUsageFloor } from '../state/live/usage-floor.js';
import { KnownModels } from '../engine/models/known-models.js';
import { ModelLists } from '../engine/models/model-lists.js';
import { CatalogModels } from '../engine/models/models.js';
import { OpenCalls } from '../engine/pipeline/call/open-calls.js';
import type { EventHub } from '../engine/pipeline/stage/event-hub.js';
import { KeptState } from '../engine/pipeline/stage/kept-state.js';
import { isLoopback, systemClock, type Clock, type Host, type Logger, type Models } from '../plugin/index.js';
import type { Caches, Live } from '../plugin/core.js';
import type { WholeStore } from '../state/store/contract/store.js';
import { SlotPool } from '../engine/slots/pool/pool.js';
import { Housekeeper } from '../state/store/housekeeper.js';
import { createCipher } from '../state/store/credential-cipher.js';
import { openStore } from '../state/store/index.js';
import { StoreError } from '../state/store/store-error.js';
import { PrometheusMetrics } from './telemetry/metrics.js';
import { StageMetrics } from './telemetry/stage-metrics.js';
import { callerOf, openCallerKeys, type CallerKeys } from './caller-keys.js';
import type { GatewayOptions } from './options.js';
import { openLedger } from './open-ledger.js';
import { openPluginEvents } from './plugin-events.js';
import { createPseudonyms } from './settle/pseudonym.js';
import { slotLoader, SlotSources } from './slots/slot-sources.js';

/** Services that live as long as the process. */
export interface Services extends CallerKeys {
  readonly log: Logger;
  readonly clock: Clock;
  /** Unix milliseconds: `clock.now`. */
  readonly now: () => number;
  readonly store: WholeStore;
  /** True if the process listens for this machine alone; a reload does not change that. */
  readonly isLocal: boolean;
  /** True in a dry run. */
  readonly dry: boolean;
  readonly live: Live;
  /** Records the actions of operators. */
  readonly audit: Audit;
  readonly ledger: LedgerWriter;
  /** Counts the ledger rows that the store has refused. */
  readonly refusedRows: Pick<RefusedRows, 'count'>;
  /** Flushes the ledgers of the other instances, as far as they answer. */
  readonly flushOthers: () => Promise<void>;
  /** Error texts of failed requests: kept or not, and for how long. */
  readonly errorTexts: { readonly isOn: boolean; readonly keptMs: number };
  readonly metrics: PrometheusMetrics;
  readonly stageMetrics: StageMetrics;
  readonly slots: SlotPool;
  readonly slotSources: SlotSources;
  readonly knownModels: KnownModels;
  /** State that stages hand over at a reload. */
  readonly kept: KeptState;
  /** Events that stages listen to. */
  readonly events: EventHub;
  /** Open calls of stages (`host.call`). */
  readonly openCalls: OpenCalls;
  readonly callerOf: HostServices['callerOf'];
  /** Statistics of all in-memory caches. */
  readonly caches: Caches;
  /** Makes an opaque name for a text, by a key of the gateway. */
  readonly pseudonym: (text: string) => Promise<string>;
  readonly connectStage: HostServices['connectStage'];
  /** Encrypts the data of stages at rest. */
  readonly secrets: Host['secrets'];
  /** Writes pending data, and closes all resources, the last first. */
  close(): Promise<void>;
}

/** Services, and the catalog that the slots were opened with. */
export interface Opened {
  readonly services: Services;
  readonly models: Models;
}

/**
 * Opens the store, the live state, and the slots of config and console. Throws ConfigError; then nothing is
 * left open.
 */
export async function openServices(config: Config, options: GatewayOptions): Promise<Opened> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).toReversed()) await closeOne();
  };
  try {
    const { services, models } = await openEach(config, options, (closeOne) => closers.push(closeOne));
    return { services: { ...services, close }, models };
  } catch (error) {
    await close();
    throw error;
  }
}

type OnClose = (close: () => Promise<unknown>) => void;

/**
 * Keeps the lists of the slots' models; returns the function that ends that. In a dry run a slot with `models:
 * discover` takes any model, since the list of its stand-in is made up.
 */
function listModels(
  known: KnownModels,
  slots: Services['slots'],
  { log, clock, dry }: Pick<Services, 'log' | 'clock'> & { readonly dry: GatewayOptions['dry'] | undefined },
): () => Promise<void> {
  const sources = () => slots.modelSources().filter(({ discovered }) => !(dry && discovered.isOn));
  const lists = new ModelLists({ log, clock, known, sources });
  known.discoverFrom(() => slots.opened.flatMap(({ discovered }) => discovered.list));
  known.servedBy(slots.served);
  return () => lists.close();
}

async function openEach(config: Config, options: GatewayOptions, onClose: OnClose) {
  const { log, clock = systemClock } = options;
  const durable = await openDurable(config, { ...options, clock }, onClose);
  const knownModels = new KnownModels();
  const models = new CatalogModels(config.models, knownModels);
  const plugins = slotLoader(config);
  const { openClient, onChoice } = options.dry ?? {};
  const parts = { models, plugins, openClient, onChoice, priceGaps };
  const pool = { log, clock, ...durable, slots: config.slots, ...parts };
  const slots = await SlotPool.open(pool);
  onClose(() => slots.close());
  const slotSources = new SlotSources(slots, { store: durable.store, log });
  onClose(listModels(knownModels, slots, { log, clock, dry: options.dry }));
  const metrics = new PrometheusMetrics();
  const stageMetrics = new StageMetrics(metrics);
  const pseudonym = createPseudonyms(options);
  const { secretKey, oldSecretKey } = options;
  // A key that would be made for the store may be gone with its container: stages seal with one that was set.
  const secrets = createCipher(typeof secretKey === 'string' ? secretKey : undefined, oldSecretKey);
  const learned = { learned_models: () => knownModels.fill };
  const caches = { ...durable.caches, ...slots.caches, ...learned };
  return {
    services: {
      log,
      clock,
      now: clock.now,
      ...durable,
      isLocal: isLocal(config.listen),
      dry: options.dry !== undefined,
      connectStage: stageClients(openClient, { log, clock }),
      errorTexts: errorTextsIn(config),
      metrics,
      stageMetrics,
      slots,
      slotSources,
      knownModels,
      kept: new KeptState(),
      events: openPluginEvents({ metrics, slots, now: clock.now }),
      openCalls: new OpenCalls(options.dry?.withinCall),
      callerOf: (keyId: string) => callerOf(durable.keys, keyId, options.dry !== undefined),
      caches,
      pseudonym,
      secrets,
    },
    models,
  };
}

/** Opens the clients of stages; loads the HTTP client with the first one. */
function stageClients(
  openClient: OpenHttpClient | undefined,
  parts: Pick<Services, 'log' | 'clock'>,
): Services['connectStage'] {
  return async (name, url, settings = {}) => {
    const open = openClient ?? (await httpClients());
    const { openStageClient } = await import('../engine/transport/stage-client.js');
    return openStageClient(open, url, settings, { ...parts, name });
  };
}

function errorTextsIn({ ledger: { errorTexts, keepDays } }: Config): Services['errorTexts'] {
  return { isOn: errorTexts, keptMs: errorTextDays(keepDays) * 86_400_000 };
}

/** True for a loopback address without a proxy in front of it. */
export function isLocal({ host, trustProxy }: Config['listen']): boolean {
  return isLoopback(host) && !trustProxy;
}

/** Opens data that outlives the process or is shared, with its background work. */
async function openDurable(
  config: Config,
  options: GatewayOptions & Pick<Services, 'clock'>,
  onClose: OnClose,
): Promise<
  CallerKeys &
    Pick<Services, 'store' | 'live' | 'audit' | 'ledger' | 'refusedRows' | 'flushOthers' | 'caches'>
> {
  const { log, clock, masterKey } = options;
  const { now } = clock;
  const keepDays = { ledger: config.ledger.keepDays, audit: config.audit.keepDays };
  const store = await openConfigured(config, options);
  onClose(() => store.close());
  const live = withUsageFloor(options.live ?? (await openLive(config.live, { log, now })));
  onClose(() => live.close());
  const callers = openCallerKeys({ masterKey, store, live, log, clock });
  const audit = new Audit({ store: store.audit, log, clock });
  const opened = await openLedger({ store, live, log, clock, folder: config.ledger.spool });
  const { ledger, refusedRows } = opened;
  onClose(() => Promise.all([callers.close(), audit.close(), ledger.close()]));
  if (!options.isCheck && !options.dry) await opened.recover();
  const housekeeper = new Housekeeper({ store, live, keepDays, log, clock });
  onClose(() => housekeeper.close());
  const { keys, adminTokens, keysChanged } = callers;
  const own = { ...callers.caches, ...audit.caches, ...ledger.caches };
  return {
    keys,
    adminTokens,
    keysChanged,
    store: opened.store,
    live,
    audit,
    ledger,
    refusedRows,
    flushOthers: opened.flushOthers,
    caches: { ...own, ...store.caches, ...live.caches },
  };
}

/** Opens the store; reports a failure as a problem of the config, with its position. */
async function openConfigured(
  config: Config,
  options: Pick<GatewayOptions, 'log' | 'secretKey' | 'oldSecretKey'> & Pick<Services, 'clock'>,
): Promise<WholeStore> {
  try {
    const { log, secretKey, oldSecretKey, clock } = options;
    return await openStore(config.store, {
      log,
      oldSecretKey,
      now: clock.now,
      ...(secretKey !== undefined && { secretKey }),
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StartError([{ at: config.storeAt, path: 'store', message: error.message }]);
  }
}

/** Health of the store and of the live state: true if reachable; requests continue without them. */
export function isUp({ store, ledger, live }: Pick<Services, 'store' | 'ledger' | 'live'>): {
  readonly store: boolean;
  readonly live: boolean;
} {
  return { store: !store.isDown && !ledger.isDown, live: !live.isDown };
}
