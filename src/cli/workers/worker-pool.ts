import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../plugin/index.js';
import type { IpcHub } from './ipc/hub.js';
import type { Measurement } from '../../gateway/telemetry/metrics.js';
import { ExitedMetrics } from './exited-metrics.js';
import { SilentWorkers } from './silent-workers.js';
import { WorkerHandle, type End } from './worker-handle.js';
import type { Reloaded, SystemReload, WorkerInit } from './worker-init.js';
import { PoolReload } from './pool-reload.js';
import { UsageError } from '../../gateway/start-failure.js';

interface WorkerPoolOptions {
  readonly size: number;
  readonly log: Logger;
  /** Hub for the state that workers share; undefined if they share it elsewhere (Redis). */
  readonly hub: IpcHub | undefined;
  readonly secretKey: () => Promise<string | undefined>;
  readonly init: Omit<WorkerInit, 'name' | 'text' | 'canary' | 'isHub'>;
  /** Heartbeat timeout after which a reload and the shutdown do not wait for a worker; 0: never. */
  readonly stuckTimeoutMs: number;
  /** Config file text at startup. */
  readonly text: string;
  readonly readText: () => Promise<string>;
}

/** Keeps `size` workers alive, restarting those that die. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<WorkerHandle>();
  readonly #serving = new Set<WorkerHandle>();
  readonly #exited = new ExitedMetrics();
  readonly #reload: PoolReload;
  readonly #silent: SilentWorkers;
  readonly #gaveUp: Promise<never>;
  #giveUp: (error: UsageError) => void = () => undefined;
  /** Names of dead or leaving workers without a replacement that serves. */
  readonly #lost = new Set<string>();
  #failures = 0;
  #url: string | undefined;
  #isClosing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#reload = new PoolReload({ ...options, workers: () => [...this.#workers] });
    this.#silent = new SilentWorkers({ ...options, workers: () => this.#workers });
    this.#silent.start();
    this.#gaveUp = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.#gaveUp.catch(() => undefined); // no unhandled rejection: `start` awaits it too
  }

  /**
   * Returns the URL once all workers listen; the first one starts alone, as it may create or migrate a file for the
   * others. Throws a UsageError with the reason if they cannot start.
   */
  async start(): Promise<string> {
    const [first = '1', ...others] = Array.from({ length: this.#options.size }, (_, index) => `${index + 1}`);
    const url = await Promise.race([this.#begin(first), this.#gaveUp]);
    await Promise.race([Promise.all(others.map((name) => this.#begin(name))), this.#gaveUp]);
    return url;
  }

  /** Supervises a worker, and resolves with its URL once it listens. */
  #begin(name: string): Promise<string> {
    return new Promise((resolve) => void this.#supervise(name, resolve));
  }

  /** Rejects when workers repeatedly die before they serve. */
  get lost(): Promise<never> {
    return this.#gaveUp;
  }

  reload(): Promise<Reloaded> {
    return this.#silent.during(this.#reload.next());
  }

  /** Has one worker record a reload by the primary in the audit log. */
  recordReload(reload: SystemReload): void {
    const [worker] = this.#serving;
    worker?.channel.notify('worker.reloaded', reload);
  }

  async measure(): Promise<readonly (readonly Measurement[])[]> {
    const measured = await Promise.all([...this.#workers].map((worker) => worker.measure()));
    return [...measured, this.#exited.measurements];
  }

  /** Drains all workers and resolves when they have exited. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { channel } of this.#workers) channel.notify('worker.end');
    await this.#silent.during(Promise.all([...this.#workers].map(({ ended }) => ended)));
  }

  kill(): void {
    this.#isClosing = true;
    for (const worker of this.#workers) worker.kill();
  }

  /** Supervises one worker: restarts it with backoff whenever it exits. */
  async #supervise(name: string, onListening: (url: string) => void): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#isClosing;) {
      const worker = this.#spawn(name);
      const beganMs = performance.now();
      void this.#whenEnded(worker);
      const url = await worker.listening;
      if (url !== undefined) this.#hasBegun(worker, url, onListening);
      await worker.leaving;
      this.#serving.delete(worker);
      if (this.#isClosing) return;
      if (this.#workers.has(worker)) this.#isLeaving(worker);
      if (performance.now() - beganMs > steadyMs) pauseMs = firstPauseMs;
      await delay(pauseMs);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }

  async #whenEnded(worker: WorkerHandle): Promise<void> {
    const end = await worker.ended;
    this.#workers.delete(worker);
    this.#serving.delete(worker);
    this.#exited.add(worker.totals);
    if (worker.isLeaving)
      this.#options.log.info({ worker: Number(worker.name), pid: worker.pid }, 'A worker has exited.');
    else if (!this.#isClosing) this.#hasDied(worker, end);
  }

  /** Logs that a worker drains before its exit, and that a replacement starts. */
  #isLeaving({ name, pid }: WorkerHandle): void {
    this.#lost.add(name);
    this.#options.log.error(
      { worker: Number(name), pid },
      'A worker is shutting down after an uncaught exception; a replacement is starting.',
    );
  }

  #spawn(name: string): WorkerHandle {
    const worker = new WorkerHandle(name);
    const { channel } = worker;
    this.#workers.add(worker);
    channel.on('pool.begin', async () => this.#initFor(worker));
    channel.on('pool.secret-key', () => this.#options.secretKey());
    channel.on('pool.reload', () => this.reload());
    channel.on('pool.canary', (percent: number) => this.#silent.during(this.#reload.startCanary(percent)));
    channel.on('pool.commit', () => this.#silent.during(this.#reload.commitCanary()));
    channel.on('pool.cancel', () => this.#silent.during(this.#reload.cancelCanary()));
    channel.on('pool.given-up', (id: number) => this.#reload.canaryGivenUp(id));
    channel.on('pool.measure', () => this.measure());
    this.#options.hub?.connect(channel);
    return worker;
  }

  async #initFor(worker: WorkerHandle): Promise<WorkerInit> {
    const configs = await this.#reload.settled();
    worker.hasBegun = true;
    const { init, hub } = this.#options;
    return { ...init, ...configs, name: worker.name, isHub: hub !== undefined };
  }

  #hasBegun(worker: WorkerHandle, url: string, onListening: (url: string) => void): void {
    const { name, pid } = worker;
    this.#failures = 0;
    this.#serving.add(worker);
    const { log } = this.#options;
    if (this.#lost.delete(name)) log.info({ worker: Number(name), pid }, 'A replacement worker is serving.');
    // With port 0 the system chooses a new port after all workers have exited.
    if (this.#url !== undefined && url !== this.#url)
      log.warn({ url }, 'The workers now listen on another address.');
    this.#url = url;
    onListening(url);
  }

  #hasDied({ name, pid }: WorkerHandle, { hasServed, code, signal, failure }: End): void {
    const { log } = this.#options;
    if (failure && this.#url === undefined)
      return this.#giveUp(new UsageError(failure.message, failure.exitCode));
    const problem = failure && { problems: failure.message.split('\n') };
    this.#lost.add(name);
    log.error(
      { worker: Number(name), pid, code, signal, ...problem },
      'A worker died; a replacement is starting.',
    );
    if (hasServed || ++this.#failures < maxFailures || this.#serving.size > 0) return undefined;
    const message = `Workers have died ${maxFailures} times in a row before they could serve; giving up.`;
    return this.#giveUp(new UsageError(message, 1));
  }
}

/** Max consecutive deaths before serving, while no other worker serves; then the pool fails. */
const maxFailures = 5;
const firstPauseMs = 100;
const maxPauseMs = 10_000;

/** Lifetime after which a worker counts as stable, which resets the restart backoff. */
const steadyMs = 10_000;
