import { createHash } from 'node:crypto';
import { Fleet } from './fleet.js';
import type { Config } from '../config/config.js';
import { SharedFeed, type RequestFeed } from '../console/api/request-feed.js';
import { CurrentConfig } from './reload.js';
import type { GatewayOptions, Prepared } from './options.js';
import { Exchanges } from '../http/exchanges.js';
import { Listener, type Handle } from '../http/listener.js';
import { WrongKeys } from '../http/wrong-keys.js';
import { recordOnSettled } from './on-settled.js';
import { isUp, openServices, type Services } from './services.js';
import { CatalogModels } from '../models/models.js';
import type { BuildOptions } from '../pipeline/pipeline.js';
import { buildRuntime, type Runtime } from './runtime.js';
import { Shutdown, type CloseOptions } from './shutdown.js';
import { measureSlots } from '../telemetry/slot-gauges.js';
import { measureResponses, measureState } from '../telemetry/state-gauges.js';

/** Gateway: its server, the pipeline for new requests, and the services that outlive a reload. */
export class Gateway {
  readonly services: Services;
  /** Publishes each request to a model when it has ended. */
  readonly feed: RequestFeed;
  /** Password of the console; empty: the console is closed. */
  readonly panelPassword: string;
  readonly exchanges: Exchanges;
  readonly wrongKeys: WrongKeys;
  readonly fleet: Fleet;
  readonly startedMs: number;
  readonly #options: GatewayOptions;
  readonly #current: CurrentConfig;
  readonly #isClosing = new AbortController();
  readonly #shutdown: Shutdown;
  readonly #makeHandler: (gateway: Gateway) => Handle;
  #listener: Listener | undefined;
  #closed: Promise<void> | undefined;

  /** Opens the slots, builds the pipeline and starts its stages. Throws ConfigError with all problems. */
  static async create(
    config: Config,
    options: GatewayOptions,
    makeHandler: (gateway: Gateway) => Handle,
  ): Promise<Gateway> {
    const { services, models } = await openServices(config, options);
    try {
      const runtime = await buildRuntime(config, models, services, buildOptions(options));
      await startPlugins(runtime, services, options);
      return new Gateway(services, runtime, options, makeHandler);
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
    const { log, live, slotSources } = services;
    this.services = services;
    this.#options = options;
    this.startedMs = options.startedMs ?? services.now();
    this.panelPassword = options.panelPassword || options.masterKey;
    this.feed = new SharedFeed(live);
    const onSettled = recordOnSettled({ ...services, feed: this.feed });
    this.exchanges = new Exchanges({ ...services, onSettled });
    this.#shutdown = new Shutdown({ log, exchanges: this.exchanges });
    const secret = createHash('sha256').update(options.masterKey).digest();
    this.wrongKeys = new WrongKeys({ meters: live.meters, secret });
    this.fleet = new Fleet({ ...services, exchanges: this.exchanges });
    const { closing } = this;
    const buildNext = async () => {
      const config = await options.loadConfig();
      const models = new CatalogModels(config.models, services.knownModels);
      const next = await buildRuntime(config, models, services, buildOptions(options));
      await next.pipeline.start();
      return next;
    };
    this.#current = new CurrentConfig(runtime, { log, live, slots: slotSources, closing, buildNext });
    measure(this);
  }

  /** The config, catalog and pipeline in force. */
  get runtime(): Runtime {
    return this.#current.runtime;
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
    const { listen } = this.runtime.config;
    const onRefused = refusedConnections(this.services, listen.maxConnections);
    this.#listener = await Listener.open(this.#makeHandler(this), { ...listen, onRefused });
    this.exchanges.watch(listen.bodyIdleTimeoutMs);
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
    const { workerGroup } = this.#options;
    return workerGroup ? workerGroup.reload() : (await this.prepareReload()).take();
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
    const { workerGroup } = this.#options;
    const { metrics } = this.services;
    return workerGroup ? metrics.textOf(await workerGroup.measurements()) : metrics.text();
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
    const ended = this.#shutdown.run(this.runtime.config.listen, this.#listener, options);
    await Promise.all([ended, this.#current.settled()]);
    await this.#listener?.close();
    this.exchanges.close();
    await this.runtime.pipeline.retire();
    await this.services.close();
  }
}

/** Starts slots, then takes those of the console, then starts the stages; a check starts nothing. */
async function startPlugins(
  { config, pipeline }: Runtime,
  { slots, slotSources }: Services,
  { isCheck = false }: GatewayOptions,
): Promise<void> {
  try {
    if (!isCheck) await slots.start();
    await slotSources.take(config);
  } catch (error) {
    await pipeline.retire();
    throw error;
  }
  if (!isCheck) await pipeline.start();
}

function buildOptions({ pluginTimeoutMs, isStrict = false }: GatewayOptions): BuildOptions {
  return { isStrict, ...(pluginTimeoutMs !== undefined && { timeoutMs: pluginTimeoutMs }) };
}

function measure(gateway: Gateway): void {
  const { services, exchanges } = gateway;
  const { metrics, slots, store, ledger, caches } = services;
  measureSlots(metrics, { list: () => slots.list(), held: () => slots.held() });
  measureState(metrics, { ledger, isUp: () => isUp(services) });
  measureResponses(metrics, store);
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
function refusedConnections({ metrics, log, now }: Services, maxConnections: number): () => void {
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
