import cluster from 'node:cluster';
import { ConfigError, type Problem } from '../config/config.js';
import type { Gateway } from '../gateway/gateway.js';
import { openGateway } from '../gateway/open.js';
import type { Prepared } from '../gateway/options.js';
import { loadGatewayConfig } from '../gateway/load-config.js';
import type { Logger } from '../plugin/index.js';
import type { WorkerGroup } from '../gateway/worker-group.js';
import { connectIpc } from '../live/ipc/live.js';
import { RpcChannel } from '../live/ipc/rpc-channel.js';
import { createLogger } from '../telemetry/logs.js';
import type { Measurement } from '../telemetry/metrics.js';
import type { WorkerInit, Reloaded } from './worker-init.js';
import { onLostErrors } from '../cli/lost-errors.js';
import { lastStepsMs, listenProblem, processLog } from '../cli/start.js';
import { failureOf } from '../cli/usage-error.js';
import { wireOf } from './message-port.js';

/** Runs one worker process: serves requests until the primary stops it or exits. */
export async function work(): Promise<void> {
  // Signals sent to the process group reach workers too; the primary decides what workers do then.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // Without this flag the cluster module ends this process, with all its requests, when the primary exits.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  const line = new RpcChannel(wireOf(process));
  const worker = new Worker(line);
  try {
    await worker.serve(await line.ask<WorkerInit>('crew.begin'));
  } catch (error) {
    const failure = failureOf(error);
    if (!failure && !line.isClosed) throw error;
    await line.ask('crew.failed', failure).catch(() => undefined); // the primary's to tell
    process.exit(1);
  }
}

class Worker {
  readonly #line: RpcChannel;
  #gateway: Gateway | undefined;
  #log: Logger = createLogger('silent');
  #prepared: Prepared | undefined;
  #text = '';

  constructor(line: RpcChannel) {
    this.#line = line;
    line.on('worker.end', () => this.#end(0));
    line.onClose(() => {
      this.#log.warn({}, 'The primary process has gone; finishing what is under way.');
      void this.#prepared?.leave();
      this.#end(1);
    });
  }

  async serve(orders: WorkerInit): Promise<void> {
    const { name, logLevel, masterKey, startedMs } = orders;
    const log = processLog(logLevel).child({ worker: Number(name), pid: process.pid });
    this.#log = log;
    this.#text = orders.text;
    onLostErrors(log, {
      end: () => this.#leave(),
      longestEndMs: () => (this.#gateway?.config.listen.shutdownTimeoutMs ?? 0) + lastStepsMs,
    });
    const loadConfig = () => loadGatewayConfig({ text: this.#text, file: orders.file, env: process.env });
    const config = await loadConfig();
    const live = orders.isHub ? { live: await connectIpc(this.#line) } : {};
    const siblings = siblingsOver(this.#line, name);
    const secretKey = async () => (await this.#line.ask<string | null>('crew.secret-key')) ?? undefined;
    const panelPassword = process.env['GW_PANEL_PASSWORD'] ?? '';
    const parts = { log, masterKey, secretKey, panelPassword, siblings, startedMs, loadConfig, ...live };
    const gateway = await openGateway(config, parts);
    this.#takeOrders(gateway, name);
    const url = await gateway.listen().catch((error: unknown) => {
      throw listenProblem(error, config.listen);
    });
    this.#gateway = gateway;
    this.#line.tell('crew.listening', url);
  }

  #takeOrders(gateway: Gateway, name: string): void {
    const line = this.#line;
    line.on('worker.prepare', (text: string) => this.#prepare(gateway, text));
    line.on('worker.take', () => this.#prepared?.take());
    line.on('worker.leave', () => this.#prepared?.leave());
    line.on('worker.measure', () => gateway.metrics.measurements(name));
  }

  /**
   * Prepares a reload with a new config text; returns the problems of the config, empty if there are none.
   */
  async #prepare(gateway: Gateway, text: string): Promise<readonly Problem[]> {
    this.#text = text;
    try {
      this.#prepared = await gateway.prepareReload();
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems;
    }
  }

  /** Shuts down after an uncaught exception; the primary starts a replacement without waiting for that. */
  async #leave(): Promise<void> {
    if (!this.#gateway) return; // it has not begun
    this.#line.tell('crew.leaving');
    this.#line.flush();
    await this.#gateway.close({ isBroken: true });
  }

  #end(exitCode: number): void {
    if (!this.#gateway) process.exit(exitCode); // it has not begun
    void this.#gateway.close().then(() => process.exit(exitCode));
  }
}

function siblingsOver(line: RpcChannel, name: string): WorkerGroup {
  return {
    name,
    reload: async () => {
      const { problems, needsRestart } = await line.ask<Reloaded>('crew.reload');
      if (problems.length > 0) throw new ConfigError(problems);
      return needsRestart;
    },
    measurements: () => line.ask<readonly (readonly Measurement[])[]>('crew.measure'),
  };
}
