import { createHash } from 'node:crypto';
import { Fleet } from './fleet.js';
import type { Config } from '../config/config.js';
import { SharedFeed, type RequestFeed } from '../console/api/request-feed.js';
import { CurrentConfig } from './reload.js';
import type { Durable } from './durable.js';
import type { GatewayOptions, Prepared } from './options.js';
import type { SlotSources } from './slot-sources.js';
import { Exchanges } from '../http/exchanges.js';
import { Listener, type Handle } from '../http/listener.js';
import { WrongKeys } from '../http/wrong-keys.js';
import { recordOnSettled } from './on-settled.js';
import { openServices, type Services } from './services.js';
import type { BuildOptions, Pipeline } from '../pipeline/pipeline.js';
import type { Live, Logger, Models, Store } from '../plugin/index.js';
import { buildRuntime, type Runtime } from './runtime.js';
import { Shutdown, type CloseOptions } from './shutdown.js';
import type { SlotPool } from '../slots/pool.js';
import type { CheckedKeys } from '../keys/keys.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';
import type { PrometheusMetrics } from '../telemetry/metrics.js';
import { measureSlots } from '../telemetry/slot-gauges.js';
import { measureResponses, measureState } from '../telemetry/state-gauges.js';

/** Gateway: its server, the pipeline for new requests, and the services that outlive a reload. */
export class Gateway {
  readonly log: Logger;
  readonly keys: CheckedKeys;
  readonly store: Store;
  readonly live: Live;
  readonly slots: SlotPool;
  readonly slotSources: SlotSources;
  readonly metrics: PrometheusMetrics;
  /** Publishes each request to a model when it has ended. */
  readonly feed: RequestFeed;
  /** Password of the console; empty: the console is closed. */
  readonly panelPassword: string;
  readonly exchanges: Exchanges;
  readonly wrongKeys: WrongKeys;
  readonly fleet: Fleet;
  readonly now: () => number;
  readonly startedMs: number;
  readonly #services: Services;
  readonly #options: GatewayOptions;
  readonly #current: CurrentConfig;
  readonly #isClosing = new AbortController();
  readonly #shutdown: Shutdown;
  readonly #makeHandler: (gateway: Gateway) => Handle;
  #listener: Listener | undefined;
  #closed: Promise<void> | undefined;

  /** Opens the slots and builds the pipeline. Throws ConfigError with all problems. */
  static async create(
    config: Config,
    options: GatewayOptions,
    makeHandler: (gateway: Gateway) => Handle,
  ): Promise<Gateway> {
    const services = await openServices(config, options);
    try {
      return new Gateway(
        services,
        await buildRuntime(config, services, buildOptions(options)),
        options,
        makeHandler,
      );
    } catch (error) {
      await services.close();
      throw error;
    }
  }

  private constructor(
    services: Services,
    runtime: Runtime,
    options: GatewayOptions,
    makeHandler: (gateway: Gateway) => Handle,
  ) {
    this.#makeHandler = makeHandler;
    const { log, now, durable, live, metrics, slotSources } = services;
    const { ledger } = durable;
    this.#services = services;
    this.#options = options;
    this.log = log;
    this.now = now;
    this.keys = services.keys;
    this.store = services.store;
    this.live = live;
    this.slots = services.slots;
    this.slotSources = slotSources;
    this.metrics = metrics;
    this.startedMs = options.startedMs ?? now();
    this.panelPassword = options.panelPassword || options.masterKey;
    this.feed = new SharedFeed(live);
    const onSettled = recordOnSettled({ log, now, metrics, ledger, feed: this.feed });
    this.exchanges = new Exchanges({ log, now, onSettled });
    this.#shutdown = new Shutdown({ log, exchanges: this.exchanges });
    const secret = createHash('sha256').update(options.masterKey).digest();
    this.wrongKeys = new WrongKeys({ meters: live.meters, secret });
    this.fleet = new Fleet({ exchanges: this.exchanges, live, ledger });
    const { closing } = this;
    const buildNext = async () => buildRuntime(await options.loadConfig(), services, buildOptions(options));
    this.#current = new CurrentConfig(runtime, { log, live, slots: slotSources, closing, buildNext });
    measure(this, services);
  }

  get config(): Config {
    return this.#current.runtime.config;
  }

  get pipeline(): Pipeline {
    return this.#current.runtime.pipeline;
  }

  get models(): Models {
    return this.#current.runtime.models;
  }

  /** Ledger writer, which also reports if the store accepts its rows. */
  get ledger(): LedgerWriter {
    return this.#services.durable.ledger;
  }

  /** Health of the store and of the live state; requests continue without them. */
  get isThere(): Durable['isThere'] {
    return this.#services.durable.isThere;
  }

  /** Invalidates cached keys on every instance, after a key was issued, changed or revoked. */
  keysChanged(): void {
    this.#services.durable.keysChanged();
  }

  /**
   * True from the start of the drain: not ready any more, though requests are served for the drain delay.
   */
  get isDraining(): boolean {
    return this.closing.aborted;
  }

  /** False if new requests are refused. */
  get takesRequests(): boolean {
    return this.#shutdown.takesRequests;
  }

  /** Aborts when the gateway begins to close. */
  get closing(): AbortSignal {
    return this.#isClosing.signal;
  }

  /** Reloads the console slots on every instance, after one was added, changed or removed. */
  slotsChanged(): Promise<void> {
    return this.#current.slotsChanged();
  }

  /** Listens on the configured address and returns the base URL. Rejects if the address is not available. */
  async listen(): Promise<string> {
    const { listen } = this.config;
    const onRefused = refusedConnections(this, listen.maxConnections);
    this.#listener = await Listener.open(this.#makeHandler(this), { ...listen, onRefused });
    this.exchanges.watchBodies(listen.bodyIdleTimeoutMs);
    return this.#listener.url;
  }

  get openConnections(): number {
    return this.#listener?.drain.connections ?? 0;
  }

  /**
   * Swaps in the current config; requests in flight finish on the old one. Returns the settings that need a
   * restart; throws ConfigError, and `shutting_down` once the gateway closes.
   */
  async reload(): Promise<readonly string[]> {
    this.#current.refuseIfClosing();
    const { siblings } = this.#options;
    return siblings ? siblings.reload() : (await this.prepareReload()).take();
  }

  /**
   * Prepares a reload of this process alone; the old config stays in force until it is taken. Throws as
   * `reload`.
   */
  prepareReload(): Promise<Prepared> {
    return this.#current.prepare();
  }

  /** Text of `GET /metrics`. */
  async metricsText(): Promise<string> {
    const { siblings } = this.#options;
    return siblings ? this.metrics.textOf(await siblings.measurements()) : this.metrics.text();
  }

  /**
   * Drains the gateway: serves for `drainDelay`, then refuses new requests and gives those in flight
   * `shutdownTimeout` to finish. Ends the rest with an error event, and closes everything.
   */
  close(options: CloseOptions = {}): Promise<void> {
    this.#isClosing.abort();
    this.#closed ??= this.#close(options);
    return this.#closed;
  }

  async #close(options: CloseOptions): Promise<void> {
    const ended = this.#shutdown.run(this.config.listen, this.#listener, options);
    await Promise.all([ended, this.#current.settled()]);
    await this.#listener?.close();
    this.exchanges.close();
    await this.pipeline.retire();
    await this.#services.close();
  }
}

function buildOptions({ pluginTimeoutMs }: GatewayOptions): BuildOptions {
  return pluginTimeoutMs === undefined ? {} : { timeoutMs: pluginTimeoutMs };
}

function measure(gateway: Gateway, { durable, knownModels }: Services): void {
  const { metrics, slots, exchanges } = gateway;
  measureSlots(metrics, { list: () => slots.list(), held: () => slots.held() });
  measureState(metrics, durable);
  measureResponses(metrics, gateway.store);
  const caches = { ...durable.caches, ...slots.caches, learned_models: () => knownModels.fill };
  metrics.cache('waiting_wrong_keys', () => gateway.wrongKeys.fill);
  for (const [name, fill] of Object.entries(caches)) metrics.cache(name, fill);
  metrics.gauge('gw2api_requests_in_flight', 'Requests whose response is open.', [], () => [
    { labels: {}, value: exchanges.count },
  ]);
  metrics.gauge('gw2api_connections_open', 'Open connections of callers.', [], () => [
    { labels: {}, value: gateway.openConnections },
  ]);
}

/** Counts connections above the max, and logs them at most once a minute. */
function refusedConnections({ metrics, log, now }: Gateway, maxConnections: number): () => void {
  const help = 'Connections closed at once because listen.maxConnections were open.';
  const refused = metrics.counter('gw2api_connections_refused_total', help, []);
  let loggedMs = -Infinity;
  return () => {
    refused.add({});
    if (now() - loggedMs < 60_000) return;
    loggedMs = now();
    log.warn({ maxConnections }, 'Too many connections are open; further ones are closed at once.');
  };
}
