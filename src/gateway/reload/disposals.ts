import type { Logger } from '../../plugin/index.js';
import type { Runtime } from '../runtime.js';

/** Pipelines that are being disposed, once their last response has closed. */
export class Disposals {
  readonly #log: Logger;
  readonly #running = new Set<Promise<unknown>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  add({ pipeline }: Runtime): void {
    const disposal = pipeline
      .retire()
      .catch((error: unknown) => this.#log.error({ err: error }, 'A pipeline could not be disposed.'))
      .finally(() => this.#running.delete(disposal));
    this.#running.add(disposal);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
