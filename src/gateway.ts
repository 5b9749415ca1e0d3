import { createApp } from './app.js';
import type { Config } from './config/config.js';
import { createModels } from './config/models.js';
import { SharedFeed, type RequestFeed } from './console/request-feed.js';
import { Durable } from './durable.js';
import type { GatewayOptions, Prepared } from './gateway-options.js';
import { GatewaySlots } from './gateway-slots.js';
import { Exchanges } from './http/exchanges.js';
import { Listener } from './http/listener.js';
import { ledgerRowOf } from './ledger-row.js';
import type { Pipeline } from './pipeline/pipeline.js';
import { GatewayError, type Live, type Logger, type Models, type Store } from './plugin/index.js';
import { recordOf } from './request-record.js';
import { needsRestart } from './restart.js';
import { run, type Running } from './running.js';
import { SlotPool } from './slots/pool.js';
import type { CheckedKeys } from './store/keys.js';
import type { LedgerWriter } from './store/ledger-writer.js';
import { PrometheusMetrics } from './telemetry/metrics.js';
import { RequestLog } from './telemetry/request-log.js';
import { measureSlots } from './telemetry/slot-gauges.js';
import { measureState } from './telemetry/state-gauges.js';
import { upstreamAdapters } from './upstream/index.js';

/** One gateway: its server, the pipeline that new requests take, and what outlives a reload. */
export class Gateway {
  readonly log: Logger;
  readonly keys: CheckedKeys;
  readonly store: Store;
  readonly live: Live;
  readonly slots: SlotPool;
  readonly slotSources: GatewaySlots;
  readonly metrics: PrometheusMetrics;
  /** Tells of each request to a model when it has ended. */
  readonly feed: RequestFeed;
  /** What opens the console; empty: nothing does. */
  readonly panelPassword: string;
  readonly exchanges: Exchanges;
  readonly now: () => number;
  readonly startedMs: number;
  readonly #durable: Durable;
  readonly #options: GatewayOptions;
  readonly #started: Config;
  #running: Running;
  #listener: Listener | undefined;
  #closing: Promise<void> | undefined;
  readonly #isClosing = new AbortController();
  #reloading: Promise<void> = Promise.resolve();

  /** Opens the slots and builds the pipeline. Throws ConfigError with all that is wrong. */
  static async create(config: Config, options: GatewayOptions): Promise<Gateway> {
    const now = options.now ?? Date.now;
    const durable = await Durable.open(config, { ...options, now });
    try {
      return await Gateway.#over(durable, config, options, now);
    } catch (error) {
      await durable.close();
      throw error;
    }
  }

  static async #over(
    durable: Durable,
    config: Config,
    options: GatewayOptions,
    now: () => number,
  ): Promise<Gateway> {
    const { store, keys, live } = durable;
    const { log } = options;
    const models = createModels(config.models);
    const metrics = new PrometheusMetrics();
    const adapters = upstreamAdapters();
    const slots = await SlotPool.open({ slots: config.slots, models, adapters, store, live, log, now });
    const slotSources = new GatewaySlots(slots, { store, log });
    const parts = { log, store, live, metrics, slots, slotSources, now, keys, durable };
    try {
      await slotSources.take(config.slots);
      return new Gateway(options, parts, await run(config, parts));
    } catch (error) {
      await slots.close();
      throw error;
    }
  }

  private constructor(options: GatewayOptions, parts: Parts & { durable: Durable }, running: Running) {
    this.#durable = parts.durable;
    this.log = parts.log;
    this.keys = parts.keys;
    this.store = parts.store;
    this.live = parts.live;
    this.feed = new SharedFeed(parts.live);
    this.slots = parts.slots;
    this.slotSources = parts.slotSources;
    this.panelPassword = options.panelPassword || options.masterKey;
    this.metrics = parts.metrics;
    this.now = parts.now;
    this.startedMs = options.startedMs ?? parts.now();
    this.#options = options;
    this.#started = running.config;
    this.#running = running;
    parts.live.messages.receive(slotsTopic, () => void this.#takeSlotsOfOthers());
    const requestLog = new RequestLog(parts.metrics);
    measureSlots(parts.metrics, () => parts.slots.list());
    measureState(parts.metrics, parts.durable);
    parts.metrics.gauge('gw2api_requests_in_flight', 'Requests whose response is open.', [], () => [
      { labels: {}, value: this.exchanges.count },
    ]);
    this.exchanges = new Exchanges({
      log: parts.log,
      now: parts.now,
      onSettled: (exchange, outcome) => {
        const record = recordOf(exchange, outcome, parts.now());
        requestLog.write(parts.log, record);
        const row = ledgerRowOf(exchange, record);
        if (!row) return;
        parts.durable.ledger.write(row);
        this.feed.publish(row);
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

  /** Writes the ledger, and says whether the store takes it. */
  get ledger(): LedgerWriter {
    return this.#durable.ledger;
  }

  /** Which of the servers behind it can be reached; requests go on without them. */
  get isThere(): Durable['isThere'] {
    return this.#durable.isThere;
  }

  /** A key was issued, changed or revoked: that holds at once on every instance. */
  keysChanged(): void {
    this.#durable.keysChanged();
  }

  get isDraining(): boolean {
    return this.#closing !== undefined;
  }

  /** Aborts when the gateway takes no new requests. */
  get closing(): AbortSignal {
    return this.#isClosing.signal;
  }

  /** A slot of the console has been entered, changed or removed: every instance takes those that there are now. */
  async slotsChanged(): Promise<void> {
    await this.#takeSlots();
    this.live.messages.send(slotsTopic, null);
  }

  #takeSlots(): Promise<void> {
    const next = this.#reloading.then(() => this.slotSources.take(this.config.slots));
    this.#reloading = next.catch(() => undefined);
    return next;
  }

  async #takeSlotsOfOthers(): Promise<void> {
    try {
      if (!this.isDraining) await this.#takeSlots();
    } catch (error) {
      this.log.error({ err: error }, 'The slots that another instance has changed could not be taken.');
    }
  }

  /** Serves on the configured address. Gives the base URL; rejects where the address cannot be had. */
  async listen(): Promise<string> {
    this.#listener = await Listener.open(createApp(this).callback(), this.config.listen);
    return this.#listener.url;
  }

  /**
   * Swaps in the config as it stands now; what is under way finishes on the old one. Gives the settings that take effect
   * only at a restart. Throws ConfigError, and `shutting_down` once the gateway closes.
   */
  async reload(): Promise<readonly string[]> {
    this.#refuseIfDraining();
    const { siblings } = this.#options;
    return siblings ? siblings.reload() : (await this.prepareReload()).take();
  }

  /** The first half of a reload, of this process alone: until it is taken the old config goes on. Throws as `reload`. */
  async prepareReload(): Promise<Prepared> {
    this.#refuseIfDraining();
    const before = this.#reloading;
    let done: () => void = noop;
    this.#reloading = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    try {
      const running = await run(await this.#options.loadConfig(), this);
      return {
        take: () => this.#take(running).finally(done),
        leave: () => running.pipeline.retire().finally(done),
      };
    } catch (error) {
      done();
      throw error;
    }
  }

  async #take(running: Running): Promise<readonly string[]> {
    const { config, models, pipeline } = running;
    try {
      await this.slotSources.take(config.slots, { models });
    } catch (error) {
      await pipeline.retire();
      throw error;
    }
    const old = this.#running;
    this.#running = running;
    const changed = needsRestart(this.#started, config);
    if (changed.length > 0) this.log.warn({ changed }, 'These settings take effect at the next start.');
    this.log.info({ stages: config.pipeline.length, slots: config.slots.length }, 'The config was reloaded.');
    old.pipeline
      .retire()
      .catch((error: unknown) => this.log.error({ err: error }, 'A pipeline could not be disposed.'));
    return changed;
  }

  #refuseIfDraining(): void {
    if (!this.isDraining) return;
    throw new GatewayError('shutting_down', 'This gateway is shutting down; it takes no new config.');
  }

  /** The text of `GET /metrics`. */
  async metricsText(): Promise<string> {
    const { siblings } = this.#options;
    return siblings ? this.metrics.textOf(await siblings.measurements()) : this.metrics.text();
  }

  /**
   * Takes no new requests, gives those under way `shutdownTimeout` to finish, ends the rest with an error event, and
   * closes everything.
   */
  close(): Promise<void> {
    this.#isClosing.abort();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#drain(), this.#reloading]);
    await this.#listener?.close();
    await this.pipeline.retire();
    await this.slots.close();
    await this.#durable.close();
  }

  async #drain(): Promise<void> {
    const { shutdownTimeoutMs } = this.config.listen;
    if (this.exchanges.count > 0)
      this.log.info({ requests: this.exchanges.count }, 'Waiting for requests to finish.');
    const deadline = setTimeout(() => {
      this.exchanges.abortAll(cutShort());
      this.#listener?.hangUpSoon();
    }, shutdownTimeoutMs);
    await this.exchanges.idle();
    clearTimeout(deadline);
  }
}

const slotsTopic = 'slots';

function cutShort(): GatewayError {
  const message = 'The gateway was shut down before the answer was complete.';
  return new GatewayError('shutting_down', message, { headers: { connection: 'close' } });
}

const noop = (): void => undefined;

type Parts = Pick<Gateway, 'log' | 'store' | 'live' | 'metrics' | 'slots' | 'slotSources' | 'now' | 'keys'>;
