import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import { ConfigError, type Config } from './config/config.js';
import { createModels } from './config/models.js';
import { createFormats } from './formats/index.js';
import { Exchanges } from './http/exchanges.js';
import { Pipeline } from './pipeline/pipeline.js';
import type { HostServices } from './pipeline/stage-host.js';
import { GatewayError, type Keys, type Logger, type Models, type Store } from './plugin/index.js';
import { recordOf } from './request-record.js';
import { builtinPolicies } from './slots/policies.js';
import { SlotPool } from './slots/pool.js';
import { openStore } from './store/index.js';
import { createKeys } from './store/keys.js';
import { StoreError } from './store/store-error.js';
import { PrometheusMetrics } from './telemetry/metrics.js';
import { RequestLog } from './telemetry/request-log.js';
import { upstreamAdapters } from './upstream/index.js';

export interface GatewayOptions {
  readonly log: Logger;
  /** Empty: there is no master key, and `/admin/*` cannot be used. */
  readonly masterKey: string;
  /** Encrypts the credentials in the store (`GW_SECRET_KEY`); without it there can be none in it. */
  readonly secretKey?: string;
  /** Reads the config again, for `reload()`. Throws ConfigError. */
  readonly loadConfig: () => Promise<Config>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** One gateway: its server, the pipeline that new requests take, and what outlives a reload. */
export class Gateway {
  readonly log: Logger;
  readonly keys: Keys;
  readonly store: Store;
  readonly slots: SlotPool;
  readonly metrics: PrometheusMetrics;
  readonly exchanges: Exchanges;
  readonly now: () => number;
  readonly startedMs: number;
  readonly #loadConfig: () => Promise<Config>;
  #running: Running;
  #server: Server | undefined;
  #isDraining = false;
  #reloading: Promise<unknown> = Promise.resolve();

  /** Opens the slots and builds the pipeline. Throws ConfigError with all that is wrong. */
  static async create(config: Config, options: GatewayOptions): Promise<Gateway> {
    const now = options.now ?? Date.now;
    const store = await openConfiguredStore(config, options, now);
    const models = createModels(config.models);
    const metrics = new PrometheusMetrics();
    const adapters = upstreamAdapters();
    const { log, masterKey } = options;
    const slots = await SlotPool.open({ slots: config.slots, models, adapters, store, log, now });
    const parts = { log, store, metrics, slots, now, keys: createKeys(masterKey, store, now) };
    try {
      return new Gateway(options, parts, await run(config, parts));
    } catch (error) {
      await slots.close();
      throw error;
    }
  }

  private constructor(options: GatewayOptions, parts: Parts, running: Running) {
    this.log = parts.log;
    this.keys = parts.keys;
    this.store = parts.store;
    this.slots = parts.slots;
    this.metrics = parts.metrics;
    this.now = parts.now;
    this.startedMs = parts.now();
    this.#loadConfig = options.loadConfig;
    this.#running = running;
    const requestLog = new RequestLog(parts.metrics);
    this.exchanges = new Exchanges({
      log: parts.log,
      now: parts.now,
      onSettled: (exchange, outcome) => {
        requestLog.write(exchange.ctx.state.log, recordOf(exchange, outcome, parts.now()));
      },
    });
  }

  get config(): Config {
    return this.#running.config;
  }

  get pipeline(): Pipeline {
    return this.#running.pipeline;
  }

  get models(): Models {
    return this.#running.models;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Serves on the configured address. Gives the base URL; rejects where the address cannot be had. */
  async listen(): Promise<string> {
    const { host, port } = this.config.listen;
    const handle = createApp(this).callback();
    const server = createServer((request, response) => void handle(request, response));
    // Long uploads and long answers are ours to bound, not Node's five-minute request timeout.
    server.requestTimeout = 0;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.#server = server;
    return urlOf(server.address() as AddressInfo); // a TCP server that listens has one
  }

  /** Swaps in the config as it stands now; what is under way finishes on the old one. Throws ConfigError. */
  async reload(): Promise<void> {
    const next = this.#reloading.then(() => this.#reload());
    this.#reloading = next.catch(() => undefined);
    await next;
  }

  async #reload(): Promise<void> {
    const config = await this.#loadConfig();
    const running = await run(config, this);
    try {
      await this.slots.reload(config.slots, { models: running.models });
    } catch (error) {
      await running.pipeline.retire();
      throw error;
    }
    const old = this.#running;
    this.#running = running;
    warnOfRestart(this.log, old.config, config);
    this.log.info({ stages: config.pipeline.length, slots: config.slots.length }, 'The config was reloaded.');
    old.pipeline
      .retire()
      .catch((error: unknown) => this.log.error({ err: error }, 'A pipeline could not be disposed.'));
  }

  /**
   * Takes no new requests, gives those under way `shutdownTimeout` to finish, ends the rest with an error event, and
   * closes everything.
   */
  async close(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    await this.#drain();
    const server = this.#server;
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    await this.pipeline.retire();
    await this.slots.close();
    await this.store.close();
  }

  async #drain(): Promise<void> {
    const { shutdownTimeoutMs } = this.config.listen;
    if (this.exchanges.count > 0)
      this.log.info({ requests: this.exchanges.count }, 'Waiting for requests to finish.');
    const deadline = setTimeout(() => {
      this.exchanges.abortAll(
        new GatewayError('shutting_down', 'The gateway was shut down before the answer was complete.'),
      );
      setTimeout(() => this.#server?.closeAllConnections(), lastWordsMs).unref();
    }, shutdownTimeoutMs);
    await this.exchanges.idle();
    clearTimeout(deadline);
    this.#server?.closeIdleConnections();
  }
}

/** How long a caller that does not read has to take in the error event that ends its stream. */
const lastWordsMs = 1000;

/** What a reload replaces. */
interface Running {
  readonly config: Config;
  readonly models: Models;
  readonly pipeline: Pipeline;
}

type Parts = Pick<Gateway, 'log' | 'store' | 'metrics' | 'slots' | 'now' | 'keys'>;

async function run(config: Config, { log, store, metrics, slots, now, keys }: Parts): Promise<Running> {
  const models = createModels(config.models);
  const userAgent = config.officialClient.userAgent ? new RegExp(config.officialClient.userAgent) : undefined;
  const services: HostServices = {
    log,
    models,
    slots,
    store,
    metrics,
    keys,
    now,
    formats: createFormats(),
    builtinPolicies,
    isOfficialClient: (agent) => userAgent?.test(agent) ?? false,
  };
  return { config, models, pipeline: await Pipeline.build(config, services) };
}

/** What a store says when it cannot be opened is a matter of the config. */
async function openConfiguredStore(
  config: Config,
  options: GatewayOptions,
  now: () => number,
): Promise<Store> {
  const { log, secretKey } = options;
  try {
    return await openStore(config.store, { log, now, ...(secretKey !== undefined && { secretKey }) });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ConfigError([{ at: config.storeAt, path: 'store', message: error.message }]);
  }
}

function warnOfRestart(log: Logger, before: Config, after: Config): void {
  const changed = (['listen', 'store', 'live'] as const).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (changed.length > 0) log.warn({ changed }, 'These settings take effect at the next start.');
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
