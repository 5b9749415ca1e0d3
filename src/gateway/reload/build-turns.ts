import { GatewayError, type Logger } from '../../plugin/index.js';
import { untilAborted } from '../../plugin/upstream/index.js';
import type { Runtime } from '../runtime.js';

/** Serializes builds of runtimes: each waits until the one before is taken or discarded. */
export class BuildTurns {
  readonly #closing: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  /** `closing`: aborts once no runtime may be taken any more. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /**
   * Builds a runtime when those before it are taken or discarded; the next one waits until `done` is called. Discards
   * it if `use` fails; throws `shutting_down`.
   */
  async run<Used>(
    build: () => Promise<Runtime>,
    use: (next: Runtime, done: () => void) => Promise<Used>,
  ): Promise<Used> {
    this.refuseIfClosing();
    const before = this.#last;
    let done: () => void = noop;
    this.#last = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await untilAborted(before, this.#closing);
      const next = await this.#untilClosing(build());
      return await orLeave(next, use(next, done));
    } catch (error) {
      done();
      this.refuseIfClosing();
      throw error;
    }
  }

  refuseIfClosing(): void {
    if (!this.#closing.aborted) return;
    throw new GatewayError('shutting_down', 'This gateway is shutting down; it takes no new config.');
  }

  /** Waits for a build, but not for a plugin that hangs once the gateway closes. */
  async #untilClosing(building: Promise<Runtime>): Promise<Runtime> {
    try {
      return await untilAborted(building, this.#closing);
    } catch (error) {
      if (this.#closing.aborted) building.then(disposeRuntime, noop); // the refused config may be invalid
      throw error;
    }
  }
}

/** Waits for `work`; discards the runtime if that fails. */
async function orLeave<Result>(next: Runtime, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    await disposeRuntime(next);
    throw error;
  }
}

/** Disposes a runtime that is not in force. */
export async function disposeRuntime({ pipeline }: Runtime): Promise<void> {
  await pipeline.retire();
}

const noop = (): void => undefined;

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
