import cluster from 'node:cluster';
import { isStrict } from '../../config/environment.js';
import { ConfigError, type ConfigProblem } from '../../config/config.js';
import type { Gateway } from '../../gateway/gateway.js';
import { openGateway } from '../../features/open.js';
import { noChanges, type ConfigDiff } from '../../config/diff/config-diff.js';
import { canariesOf } from '../../gateway/reload/canary-reloads.js';
import { reloadBySystem } from '../../features/pipeline/system-reload.js';
import type { ReloadResult, WorkerGroup } from '../../gateway/options.js';
import type { Prepared } from '../../gateway/reload/prepared.js';
import { loadGatewayConfig, loadGatewayConfigFile, otherFile } from '../../gateway/load-config.js';
import { GatewayError, type Logger } from '../../plugin/index.js';
import { connectIpc } from './ipc/live.js';
import { RpcChannel } from './ipc/rpc-channel.js';
import { createLogger, processLog } from '../../gateway/telemetry/logs.js';
import type { Measurement } from '../../gateway/telemetry/metrics.js';
import { exitWhenWritten } from '../../gateway/telemetry/process-exit.js';
import type { PoolCanary, Reloaded, SystemReload, WorkerInit } from './worker-init.js';
import { startWatchdog, type StuckLog } from '../watchdog/watchdog.js';
import { onLostErrors } from '../../gateway/lost-errors.js';
import { configTests } from '../../features/config-tests.js';
import { lastStepsMs } from '../../gateway/shutdown.js';
import { failureOf, listenProblem, startFailure } from '../../gateway/start-failure.js';
import { portToPrimary } from './message-port.js';

/** Runs one worker process: serves requests until the primary stops it or exits. */
export async function work(): Promise<void> {
  // Signals sent to the process group reach workers too; the primary decides what workers do then.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // Without this flag the cluster module ends this process, with all its requests, when the primary exits.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  const channel = new RpcChannel(portToPrimary(process));
  const worker = new Worker(channel);
  try {
    await worker.serve(await channel.ask<WorkerInit>('pool.begin'));
  } catch (error) {
    const failure = failureOf(startFailure(error));
    if (!failure && !channel.isClosed) throw error;
    await channel.ask('pool.failed', failure).catch(() => undefined); // reported by the primary
    await exitWhenWritten(1);
  }
}

class Worker {
  readonly #channel: RpcChannel;
  #gateway: Gateway | undefined;
  #log: Logger = createLogger('silent');
  #prepared: Prepared | undefined;
  #text = '';
  /** True if the other workers have a canary that this one could not join. */
  #lacksCanary = false;

  constructor(channel: RpcChannel) {
    this.#channel = channel;
    channel.on('worker.end', () => this.#end(0));
    channel.onClose(() => {
      this.#log.warn({}, 'The primary process has exited; finishing the requests in flight.');
      void this.#prepared?.leave();
      this.#end(1);
    });
  }

  async serve(init: WorkerInit): Promise<void> {
    const { name, logLevel, logFormat, masterKey, startedMs } = init;
    const log = (await processLog(logLevel, logFormat)).child({ worker: Number(name), pid: process.pid });
    this.#log = log;
    this.#text = init.text;
    onLostErrors(log, {
      end: () => this.#leave(),
      maxShutdownMs: () => (this.#gateway?.runtime.config.listen.shutdownTimeoutMs ?? 0) + lastStepsMs,
    });
    const loadConfig = () => loadGatewayConfig({ text: this.#text, file: init.file, env: process.env });
    const readConfig = () => loadGatewayConfigFile(init.file, process.env, otherFile);
    const config = await loadConfig();
    const live = init.isHub ? { live: await connectIpc(this.#channel) } : {};
    const workerGroup = groupOver(this.#channel, name);
    const ask = async () => (await this.#channel.ask<string | null>('pool.secret-key')) ?? undefined;
    const secretKey = process.env['GW_SECRET_KEY'] || ask;
    const panelPassword = process.env['GW_PANEL_PASSWORD'] ?? '';
    const oldSecretKey = process.env['GW_SECRET_KEY_OLD'];
    const own = { log, masterKey, secretKey, oldSecretKey, panelPassword, isStrict: isStrict(process.env) };
    const runTests = (signal: AbortSignal) => configTests.run(init.file, process.env, signal);
    const configs = { loadConfig, readConfig, testConfig: runTests };
    const parts = { ...own, ...configs, workerGroup, startedMs, ...live };
    const gateway = await openGateway(config, parts);
    this.#listenToPrimary(gateway, name);
    if (init.canary) await this.#joinCanary(gateway, init.canary);
    const url = await gateway.listen().catch((error: unknown) => {
      throw listenProblem(error, config.listen);
    });
    this.#gateway = gateway;
    const fields = { worker: Number(name), pid: process.pid };
    await this.#watch(gateway, { level: logLevel, format: logFormat, fields });
    this.#sendTotals(gateway);
    this.#channel.notify('pool.listening', url);
  }

  /** Starts the watchdog, and the heartbeats to the primary. */
  async #watch({ runtime, services }: Gateway, log: StuckLog): Promise<void> {
    const { stuckTimeoutMs } = runtime.config.listen;
    const { runModule } = services.store;
    await startWatchdog({ stuckTimeoutMs, isWorker: true, log, runModule });
    if (stuckTimeoutMs > 0) setInterval(() => this.#channel.notify('pool.sign'), signMs).unref();
  }

  /** Sends local counters to the primary once a second, while requests settle, so that they survive this worker. */
  #sendTotals({ exchanges, services }: Gateway): void {
    let sent = 0;
    const send = async (): Promise<void> => {
      const settled = exchanges.settled + services.openCalls.settled;
      if (settled === sent) return;
      sent = settled;
      this.#channel.notify('pool.totals', await services.metrics.totals());
    };
    setInterval(() => void send(), totalsMs).unref();
  }

  /** Joins the canary of the other workers; without it, this worker serves the config in force alone. */
  async #joinCanary(gateway: Gateway, canary: PoolCanary): Promise<void> {
    try {
      const problems = await this.#prepare(gateway, canary.text);
      if (problems.length > 0) throw new ConfigError(problems);
      await this.#hold(gateway, canary);
    } catch (error) {
      this.#lacksCanary = true;
      this.#log.error({ err: error }, 'This worker could not join the canary of the others.');
    }
  }

  #listenToPrimary(gateway: Gateway, name: string): void {
    const channel = this.#channel;
    channel.on('worker.prepare', (text: string) => this.#prepare(gateway, text));
    channel.on('worker.take', () => this.#unprepared()?.take());
    channel.on('worker.leave', () => this.#unprepared()?.leave());
    channel.on('worker.hold', (canary: PoolCanary) => this.#hold(gateway, canary));
    channel.on('worker.commit', (text: string) => this.#commit(gateway, text));
    channel.on('worker.cancel', () => this.#cancel(gateway));
    channel.on('worker.reloaded', (reload: SystemReload) => {
      const { audit } = gateway.services;
      reloadBySystem(audit, reload.cause, async () => takenOf(reload)).catch(() => undefined); // the primary logs it
    });
    channel.on('worker.measure', () => gateway.services.metrics.measurements(name));
  }

  /**
   * Prepares a reload with a new config text; returns the problems of the config, empty if there are none.
   */
  async #prepare(gateway: Gateway, text: string): Promise<readonly ConfigProblem[]> {
    this.#text = text;
    try {
      this.#prepared = await gateway.reloads.prepare();
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems;
    }
  }

  async #hold(gateway: Gateway, { id, percent }: PoolCanary): Promise<ConfigDiff> {
    const prepared = this.#unprepared();
    this.#lacksCanary = false;
    const onGivenUp = () => this.#channel.notify('pool.given-up', id);
    return prepared ? (await canariesOf(gateway)).here.start(prepared, percent, onGivenUp) : noChanges;
  }

  /** Applies the config of the canary, also if this worker could not join it. */
  async #commit(gateway: Gateway, text: string): Promise<ReloadResult | undefined> {
    if (!this.#lacksCanary) return (await canariesOf(gateway)).here.commit();
    const problems = await this.#prepare(gateway, text);
    if (problems.length > 0) throw new ConfigError(problems);
    return this.#unprepared()?.take();
  }

  async #cancel(gateway: Gateway): Promise<void> {
    if (!this.#lacksCanary) await (await canariesOf(gateway)).here.cancel();
  }

  /** Prepared reload, which is used only once. */
  #unprepared(): Prepared | undefined {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    return prepared;
  }

  /** Shuts down after an uncaught exception; the primary starts a replacement without waiting for that. */
  async #leave(): Promise<void> {
    if (!this.#gateway) return; // not started yet
    this.#channel.notify('pool.leaving');
    this.#channel.flush();
    await this.#gateway.close({ isBroken: true });
  }

  #end(exitCode: number): void {
    if (!this.#gateway) return process.exit(exitCode); // not started yet
    void this.#gateway.close().then(() => exitWhenWritten(exitCode));
    return undefined;
  }
}

/** Interval of the heartbeats to the primary. */
const signMs = 500;

/** Interval of the totals that a worker sends. */
const totalsMs = 1000;

/** Throws if a reload was rejected. */
function takenOf(reload: SystemReload): ReloadResult {
  if ('taken' in reload) return reload.taken;
  throw new GatewayError(reload.code, 'The new config was refused.');
}

function groupOver(channel: RpcChannel, name: string): WorkerGroup {
  const ask = async (topic: string, value?: unknown): Promise<ReloadResult> => {
    const { problems, ...taken } = await channel.ask<Reloaded>(topic, value);
    if (problems.length > 0) throw new ConfigError(problems);
    return taken;
  };
  return {
    name,
    reload: () => ask('pool.reload'),
    startCanary: async (percent) => (await ask('pool.canary', percent)).changes,
    commitCanary: () => ask('pool.commit'),
    cancelCanary: () => channel.ask('pool.cancel'),
    measurements: () => channel.ask<readonly (readonly Measurement[])[]>('pool.measure'),
  };
}
