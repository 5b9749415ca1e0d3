import { Fleet } from './fleet.js';
import type { Config } from '../config/config.js';
import { configInForce } from './reload/config-in-force.js';
import type { CurrentConfig } from './reload/current-config.js';
import type { ExtensionName, ExtensionOf } from './extension.js';
import { OpenExtensions } from './open-extensions.js';
import type { GatewayOptions, ReloadOptions, ReloadResult, WorkerGroup } from './options.js';
import { Exchanges } from '../engine/http/exchanges.js';
import type { Handle } from '../engine/http/connection/listener.js';
import type { WrongKeys } from '../engine/http/wrong-keys.js';
import { wrongKeysOf } from './caller-keys.js';
import { priceFor } from '../state/ledger/cost.js';
import { createSessionNames } from './settle/pseudonym.js';
import { callRecorder } from './settle/settle-call.js';
import { recordOnSettled } from './settle/settle.js';
import { openServices, type Services } from './services.js';
import { costSoFar, type PriceOf } from './settle/money.js';
import { startRuntime, type Runtime } from './runtime.js';
import { Shutdown, type CloseOptions } from './shutdown.js';
import { GroupMetrics } from './telemetry/group-metrics.js';
import { Listeners } from './listeners.js';
import { Reloads } from './reload/reloads.js';

/** Extension of a gateway. */
export type Extension<Api = unknown> = ExtensionOf<Gateway, Api>;

/** `extensions`: those available to it, in the order of their notifications about ended requests. */
export type OpenOptions = GatewayOptions & { readonly extensions?: readonly Extension[] };

/** Opens a gateway with its server and services. Throws ConfigError with all problems. */
export type OpenGateway = (config: Config, options: OpenOptions) => Promise<Gateway>;

/** Gateway: its server, the pipeline for new requests, and the services that outlive a reload. */
export class Gateway {
  readonly services: Services;
  /** Password of the console; empty: the console is closed. */
  readonly panelPassword: string;
  /** Price of a model at a slot, by the config in force. */
  readonly priceOf: PriceOf;
  readonly exchanges: Exchanges;
  readonly wrongKeys: WrongKeys;
  readonly fleet: Fleet;
  readonly startedMs: number;
  /** The runtime in force, its replacement, and a candidate beside it. */
  readonly current: CurrentConfig;
  readonly workerGroup: WorkerGroup | undefined;
  readonly #options: GatewayOptions;
  readonly #extensions = new OpenExtensions<Gateway>(this);
  /** Watches of the open extensions, which each request calls. */
  readonly watches = this.#extensions.watches;
  readonly #isClosing = new AbortController();
  readonly listeners: Listeners;
  readonly reloads: Reloads;
  readonly metrics: GroupMetrics;
  readonly #shutdown: Shutdown;
  #closed: Promise<void> | undefined;

  /** Opens the slots, builds the pipeline and starts its stages. Throws ConfigError with all problems. */
  static async create(
    config: Config,
    { extensions = [], ...options }: OpenOptions,
    makeHandler: (gateway: Gateway) => Handle,
  ): Promise<Gateway> {
    const { services, models } = await openServices(config, options);
    try {
      const runtime = await startRuntime(config, models, services, options);
      const gateway = new Gateway(services, runtime, options, makeHandler);
      await gateway.#start(extensions, config);
      return gateway;
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
    const { log } = services;
    this.services = services;
    this.#options = options;
    this.workerGroup = options.workerGroup;
    this.startedMs = options.startedMs ?? services.now();
    this.panelPassword = options.panelPassword || options.masterKey;
    this.priceOf = (slot, model) =>
      priceFor(this.runtime.models.find(model) ?? { id: model }, services.slots.pricesOf(slot));
    const settling = {
      ...services,
      runtime: () => this.runtime,
      sessionName: createSessionNames(options),
      priceOf: this.priceOf,
      watch: this.watches,
    };
    const onSettled = recordOnSettled(settling);
    const costSoFarOf = (state: Parameters<typeof costSoFar>[0]) => costSoFar(state, this.priceOf);
    this.exchanges = new Exchanges({ ...services, costSoFar: costSoFarOf, onSettled });
    services.openCalls.recordWith({
      costSoFar: costSoFarOf,
      record: callRecorder(settling),
      takesRequests: () => this.takesRequests,
    });
    this.#shutdown = new Shutdown({ log, exchanges: this.exchanges, calls: services.openCalls });
    this.wrongKeys = wrongKeysOf(services, options.masterKey);
    this.fleet = new Fleet({ ...services, exchanges: this.exchanges });
    const { closing } = this;
    this.current = configInForce(runtime, { services, options, closing });
    this.reloads = new Reloads(this.current, { services, options, closing });
    this.metrics = new GroupMetrics(services.metrics, options.workerGroup);
    this.listeners = new Listeners({
      services,
      exchanges: this.exchanges,
      watches: this.watches,
      listen: () => this.runtime.config.listen,
      makeHandler: () => makeHandler(this),
    });
  }

  /** Value of an extension, which is opened at the first use. */
  use<Api>(extension: Extension<Api>): Promise<Api> {
    return this.#extensions.use(extension);
  }

  /** Value of the extension of this name; undefined: the gateway has none. */
  find<Api>(name: ExtensionName<Api>): Promise<Api | undefined> {
    return this.#extensions.find(name);
  }

  /** Value of an open extension; undefined if it has not been used. */
  opened<Api>(extension: Extension<Api>): Promise<Api | undefined> {
    return this.#extensions.opened(extension);
  }

  async #start(extensions: readonly Extension[], config: Config): Promise<void> {
    try {
      await this.#extensions.start(extensions, config, this.#options);
    } catch (error) {
      await this.close({ isBroken: true });
      throw error;
    }
  }

  /** The config, catalog and pipeline in force. */
  get runtime(): Runtime {
    return this.current.runtime;
  }

  /** True from the start of the drain: no longer ready, though requests are served for the drain delay. */
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
    return this.current.slotsChanged();
  }

  /** Listens on the configured address and returns the base URL. Rejects if the address is not available. */
  listen(): Promise<string> {
    return this.listeners.open();
  }

  /**
   * Swaps in the current config; requests in flight finish on the old one. Throws ConfigError, and
   * `shutting_down` once the gateway closes.
   */
  reload(options?: ReloadOptions): Promise<ReloadResult> {
    return this.reloads.run(options);
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
    const ended = this.#shutdown.run(this.runtime.config.listen, this.listeners.outer, options);
    await Promise.all([ended, this.current.settled()]);
    await this.listeners.outer?.close();
    // What hangs in an earlier pipeline and in this one costs its time once.
    await Promise.all([this.current.close(), this.runtime.pipeline.retire()]);
    this.exchanges.close();
    await this.#extensions.close();
    await this.services.close();
  }
}
