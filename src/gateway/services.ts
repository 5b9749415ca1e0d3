import type { Config } from '../config/config.js';
import { Durable } from './durable.js';
import type { GatewayOptions } from './options.js';
import { SlotSources } from './slot-sources.js';
import { KnownModels } from '../models/known-models.js';
import { ModelLists } from '../models/model-lists.js';
import { CatalogModels } from '../models/models.js';
import type { Live, Logger, Store } from '../plugin/index.js';
import { createPseudonyms } from './pseudonym.js';
import { SlotPool } from '../slots/pool.js';
import type { CheckedKeys } from '../keys/keys.js';
import { PrometheusMetrics } from '../telemetry/metrics.js';
import { upstreamAdapters } from '../upstream/index.js';

/** Services that live as long as the process. */
export interface Services {
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly durable: Durable;
  readonly store: Store;
  readonly keys: CheckedKeys;
  readonly live: Live;
  readonly metrics: PrometheusMetrics;
  readonly slots: SlotPool;
  readonly slotSources: SlotSources;
  readonly knownModels: KnownModels;
  /** Makes an opaque name for a text, by a key of the gateway. */
  readonly pseudonym: (text: string) => Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens the store, the live state, and the slots of config and console. Throws ConfigError; then nothing is
 * left open.
 */
export async function openServices(config: Config, options: GatewayOptions): Promise<Services> {
  const { log, now = Date.now } = options;
  const durable = await Durable.open(config, { ...options, now });
  const { store, keys, live } = durable;
  const slots = await openSlots(config, { log, now, store, live }).catch(async (error: unknown) => {
    await durable.close();
    throw error;
  });
  const close = async () => {
    await slots.close();
    await durable.close();
  };
  const slotSources = new SlotSources(slots, { store, log });
  await slotSources.take(config).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const metrics = new PrometheusMetrics();
  const knownModels = new KnownModels();
  const modelLists = listsOf(slots, knownModels, { log, now });
  const closeAll = async () => {
    await modelLists.close();
    await close();
  };
  const pseudonym = createPseudonyms(options);
  return {
    log,
    now,
    durable,
    store,
    keys,
    live,
    metrics,
    slots,
    slotSources,
    knownModels,
    pseudonym,
    close: closeAll,
  };
}

function openSlots(
  config: Config,
  parts: Pick<Services, 'log' | 'now' | 'store' | 'live'>,
): Promise<SlotPool> {
  const models = new CatalogModels(config.models);
  return SlotPool.open({ ...parts, slots: config.slots, models, adapters: upstreamAdapters() });
}

function listsOf(slots: SlotPool, known: KnownModels, parts: Pick<Services, 'log' | 'now'>): ModelLists {
  return new ModelLists({ ...parts, known, sources: () => slots.modelSources() });
}
