import type { ModelEventBatch } from './events.js';
import type { Transform } from './stream/stream-step.js';

/**
 * Transform before the commit point. Passes on nothing of an answer that fails there, so that another slot can still
 * help.
 */
export class HeldTransform implements Transform {
  readonly #transform: Transform;
  readonly #isCommitted: () => boolean;

  constructor(transform: Transform, isCommitted: () => boolean) {
    this.#transform = transform;
    this.#isCommitted = isCommitted;
  }

  get isOver(): boolean {
    return this.#transform.isOver ?? false;
  }

  /** Skips a batch that ends in an `error` event before the commit point; the error itself follows it. */
  transform(batch: ModelEventBatch): ModelEventBatch | undefined {
    if (batch.at(-1)?.type === 'error' && !this.#isCommitted()) return undefined;
    return this.#transform.transform(batch);
  }

  flush(): ReturnType<NonNullable<Transform['flush']>> {
    return this.#transform.flush?.();
  }

  fail(error: unknown): ModelEventBatch | undefined {
    const last = this.#transform.fail?.(error);
    return this.#isCommitted() ? last : undefined;
  }

  cancel(reason: unknown): void {
    this.#transform.cancel?.(reason);
  }
}
