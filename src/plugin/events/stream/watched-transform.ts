import { batchFault } from './batch-fault.js';
import type { ModelEventBatch } from '../events.js';
import type { Transform } from './stream-step.js';

/**
 * Transform whose faults are reported: its errors, an output that is not a batch, and an answer that it ends without
 * `message_stop`, which no other slot could repair.
 */
export class WatchedTransform implements Transform {
  readonly #transform: Transform;
  readonly #onFault: (error: unknown) => void;
  #hasStopped = false;

  constructor(transform: Transform, onFault: (error: unknown) => void) {
    this.#transform = transform;
    this.#onFault = onFault;
  }

  get isOver(): boolean {
    return this.#transform.isOver ?? false;
  }

  transform(batch: ModelEventBatch): ModelEventBatch | undefined {
    try {
      return this.#seen(this.#transform.transform(batch));
    } catch (error) {
      return this.#failed(error);
    }
  }

  async flush(): Promise<ModelEventBatch | undefined> {
    try {
      const last = this.#seen(await this.#transform.flush?.());
      if (this.isOver && !this.#hasStopped)
        throw new TypeError('A transform ended an answer without message_stop.');
      return last;
    } catch (error) {
      return this.#failed(error);
    }
  }

  fail(error: unknown): ModelEventBatch | undefined {
    return this.#transform.fail?.(error);
  }

  cancel(reason: unknown): void {
    this.#transform.cancel?.(reason);
  }

  #seen(batch: ModelEventBatch | undefined): ModelEventBatch | undefined {
    const fault = batch === undefined ? undefined : batchFault(batch);
    if (fault) throw fault;
    this.#hasStopped ||= batch?.some(({ type }) => type === 'message_stop') ?? false;
    return batch;
  }

  #failed(error: unknown): never {
    this.#onFault(error);
    throw error;
  }
}
