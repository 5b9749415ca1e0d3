import type { Logger } from '../../plugin/index.js';
import type { WorkerHandle } from './worker-handle.js';

interface SilentWorkersOptions {
  readonly workers: () => Iterable<WorkerHandle>;
  /** Heartbeat timeout after which a worker is stuck; 0: never. */
  readonly stuckTimeoutMs: number;
  readonly log: Logger;
}

/**
 * Kills workers whose loop does not respond while a reload or the shutdown waits for them. Counts ticks of this process as
 * time, so that one that was stopped with its workers kills none.
 */
export class SilentWorkers {
  readonly #options: SilentWorkersOptions;
  #waits = 0;

  constructor(options: SilentWorkersOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.stuckTimeoutMs > 0) setInterval(() => this.#look(), tickMs).unref();
  }

  /** Waits for work that needs all workers. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    this.#waits += 1;
    try {
      return await work;
    } finally {
      this.#waits -= 1;
    }
  }

  #look(): void {
    for (const worker of this.#options.workers()) {
      const silentMs = worker.tick(tickMs);
      if (this.#waits > 0 && silentMs >= this.#options.stuckTimeoutMs) this.#end(worker, silentMs);
    }
  }

  #end(worker: WorkerHandle, silentMs: number): void {
    const fields = { worker: Number(worker.name), pid: worker.pid, silentMs };
    this.#options.log.error(fields, 'A worker does not respond; it is killed.');
    worker.kill();
  }
}

const tickMs = 500;
