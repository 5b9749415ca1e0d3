import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { Fleet } from './fleet.js';
import type { Config } from '../config/config.js';
import { warnOfUncountedBudgets } from './budgets.js';
import { warnOfKeyNames } from './caller-warnings.js';
import { configInForce } from './reload/config-in-force.js';
import type { CurrentConfig } from './reload/current-config.js';
import type { ConfigDiff } from '../config/diff/config-diff.js';
import { idleCallers, refusedConnections } from './connections.js';
import { MeasuredReloads } from './reload/measured-reloads.js';
import { NextConfigTests } from './reload/next-config-tests.js';
import type { ExtensionName, ExtensionOf } from './extension.js';
import { OpenExtensions } from './open-extensions.js';
import type { GatewayOptions, ReloadOptions, Taken, WorkerGroup } from './options.js';
import type { Prepared } from './reload/prepared.js';
import type { CallerLimits } from '../engine/http/caller-watch.js';
import { Exchanges } from '../engine/http/exchanges.js';
import { Listener, type Handle } from '../engine/http/listener.js';
import { WrongKeys } from '../engine/http/wrong-keys.js';
import { priceFor } from '../state/ledger/cost.js';
import { createSessionNames } from './settle/session-names.js';
import { recordOnSettled } from './settle/settle.js';
import { openServices, type Services } from './services.js';
import { costSoFar, type PriceOf } from './settle/money.js';
import { buildOptions, buildRuntime, type Runtime } from './runtime.js';
import { SharedWork } from './reload/shared-work.js';
import { startPlugins } from './start-plugins.js';
import { Shutdown, type CloseOptions } from './shutdown.js';
import { stageMetricNames } from './telemetry/stage-metrics.js';
import { stageTimes, type StageTimes } from './telemetry/stage-times.js';

/** Extension of a gateway. */
export type Extension<Api = unknown> = ExtensionOf<Gateway, Api>;

/** `extensions`: those that it may start with, in the order in which they see the end of a request. */
export type OpenOptions = GatewayOptions & { readonly extensions?: readonly Extension[] };

/** Opens a gateway with what serves it. Throws ConfigError with all problems. */
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
  readonly #tests: NextConfigTests;
  readonly #reloads: MeasuredReloads;
  readonly #preview = new SharedWork(() => this.current.preview());
  readonly #shutdown: Shutdown;
  readonly #makeHandler: (gateway: Gateway) => Handle;
  #listener: Listener | undefined;
  #callerLimits: CallerLimits | undefined;
  #inner: Listener | undefined;
  #closed: Promise<void> | undefined;

  /** Opens the slots, builds the pipeline and starts its stages. Throws ConfigError with all problems. */
  static async create(
    config: Config,
    { extensions = [], ...options }: OpenOptions,
    makeHandler: (gateway: Gateway) => Handle,
  ): Promise<Gateway> {
    const { services, models } = await openServices(config, options);
    try {
      const runtime = await buildRuntime(config, models, services, buildOptions(options));
      await startPlugins(runtime, services, options);
      if (!options.isCheck)
        await Promise.all([
          warnOfUncountedBudgets(runtime.pipeline, services),
          warnOfKeyNames(config, services),
        ]);
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
    this.#makeHandler = makeHandler;
    const { log } = services;
    this.services = services;
    this.#options = options;
    this.workerGroup = options.workerGroup;
    this.startedMs = options.startedMs ?? services.now();
    this.panelPassword = options.panelPassword || options.masterKey;
    this.priceOf = (slot, model) =>
      priceFor(this.runtime.models.find(model) ?? { id: model }, services.slots.pricesOf(slot));
    const onSettled = recordOnSettled({
      ...services,
      runtime: () => this.runtime,
      sessionName: createSessionNames(options),
      priceOf: this.priceOf,
      watch: this.watches,
    });
    this.exchanges = new Exchanges({
      ...services,
      costSoFar: (state) => costSoFar(state, this.priceOf),
      onSettled,
    });
    this.#shutdown = new Shutdown({ log, exchanges: this.exchanges });
    this.wrongKeys = wrongKeysOf(services, options.masterKey);
    this.fleet = new Fleet({ ...services, exchanges: this.exchanges });
    const { closing } = this;
    this.current = configInForce(runtime, { services, options, closing });
    this.#tests = new NextConfigTests(this.current, { ...options, closing });
    this.#reloads = new MeasuredReloads(services);
  }

  /** Value of an extension, which is opened at the first use. */
  use<Api>(extension: Extension<Api>): Promise<Api> {
    return this.#extensions.use(extension);
  }

  /** Value of the extension of this name; undefined: the gateway has none. */
  find<Api>(name: ExtensionName<Api>): Promise<Api | undefined> {
    return this.#extensions.find(name);
  }

  /** Value of an extension that is open; undefined: nobody has used it. */
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

  /** True from the start of the drain: not ready any more, though requests are served for the drain delay. */
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
  async listen(): Promise<string> {
    const { listen } = this.runtime.config;
    const onRefused = refusedConnections(this.services, listen.maxConnections);
    const { listening } = this.watches;
    this.#listener = await Listener.open(this.#makeHandler(this), { ...listen, onRefused, listening });
    this.exchanges.watch({ ...listen, ...this.callerLimits });
    return this.#listener.url;
  }

  /** Serves without a port; returns a function that takes the server's side of a connection. */
  listenWithin(): (socket: Duplex) => void {
    const { listen } = this.runtime.config;
    const onRefused = refusedConnections(this.services, listen.maxConnections);
    const listener = Listener.within(this.#makeHandler(this), { ...listen, onRefused });
    this.#listener = listener;
    this.exchanges.watch({ ...listen, callerIdleTimeoutMs: 0, onIdleCaller: () => undefined });
    return (socket) => listener.accept(socket);
  }

  /** Serves a connection from within the process, beside those of the port. */
  acceptWithin(socket: Duplex): void {
    const options = { ...this.runtime.config.listen, maxConnections: Infinity, onRefused: () => undefined };
    this.#inner ??= Listener.within(this.#makeHandler(this), options);
    this.#inner.accept(socket);
  }

  /** Limits of callers who do not read their answers, by the config at the first use. */
  get callerLimits(): CallerLimits {
    const { callerIdleTimeoutMs } = this.runtime.config.listen;
    this.#callerLimits ??= { callerIdleTimeoutMs, onIdleCaller: idleCallers(this.services) };
    return this.#callerLimits;
  }

  /** Number of open WebSockets. */
  get openWebSockets(): number {
    return this.#listener?.upgraded ?? 0;
  }

  get openConnections(): number {
    return this.#listener?.drain.connections ?? 0;
  }

  /**
   * Swaps in the current config; requests in flight finish on the old one. Throws ConfigError, and
   * `shutting_down` once the gateway closes.
   */
  async reload({ skipsTests = false }: ReloadOptions = {}): Promise<Taken> {
    this.current.refuseIfClosing();
    if (!skipsTests) await this.testNext();
    const { workerGroup } = this;
    return workerGroup ? workerGroup.reload() : (await this.prepareReload()).take();
  }

  /** Runs the tests of the config as it stands now. Throws as `reload`. */
  async testNext(): Promise<void> {
    this.current.refuseIfClosing();
    await this.#reloads.check(this.#tests.run());
  }

  /** Prepares a reload of this process alone; the old config stays in force until it is taken. Throws as `reload`. */
  prepareReload(): Promise<Prepared> {
    return this.#reloads.prepare(() => this.current.prepare());
  }

  /**
   * Says what a reload would change now; the config in force stays. Callers who wait for one share the next. Throws as
   * `reload`.
   */
  previewReload(): Promise<ConfigDiff> {
    return this.#preview.run();
  }

  /** Text of `GET /metrics`. */
  async metricsText(): Promise<string> {
    const { workerGroup } = this;
    const { metrics } = this.services;
    return workerGroup ? metrics.textOf(await workerGroup.measurements()) : metrics.text();
  }

  /** Times, faults and skips of the stages since the start, by name. */
  async stageTimes(): Promise<ReadonlyMap<string, StageTimes>> {
    const { workerGroup } = this;
    if (workerGroup) return stageTimes(await workerGroup.measurements());
    return stageTimes([await this.services.metrics.measurementsOf(Object.values(stageMetricNames))]);
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
    await Promise.all([ended, this.current.settled()]);
    await this.#listener?.close();
    // What hangs in an earlier pipeline and in this one costs its time once.
    await Promise.all([this.current.close(), this.runtime.pipeline.retire()]);
    this.exchanges.close();
    await this.#extensions.close();
    await this.services.close();
  }
}

function wrongKeysOf({ live, clock, keys, adminTokens }: Services, masterKey: string): WrongKeys {
  return new WrongKeys({
    meters: live.meters,
    secret: createHash('sha256').update(masterKey).digest(),
    clock,
    wasGood: (key) => keys.wasGood(key) || adminTokens.wasGood(key),
  });
}
