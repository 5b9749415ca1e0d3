/**
 * One step on the way of batches: what an async generator over them would do, at a promise a batch, 0.2 µs in place of
 * 0.5, and `return()` does not wait for a pending `next()`. For one consumer that asks for one batch at a time. The source
 * is left when the step throws and when its consumer leaves, even before the first batch.
 */
export abstract class BatchStep<In, Out> implements AsyncIterableIterator<Out, undefined> {
  readonly #source: AsyncIterator<In>;
  #isOver = false;

  constructor(source: AsyncIterator<In>) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Out, undefined>> {
    try {
      while (!this.#isOver) {
        this.check();
        const result = await this.#source.next();
        if (this.#isOver) break;
        if (result.done) {
          this.end();
          this.#close();
          break;
        }
        const taken = this.take(result.value);
        if (taken !== undefined) return { done: false, value: taken };
      }
      return { done: true, value: undefined };
    } catch (error) {
      await Promise.allSettled([this.return()]); // what led to it is what counts
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Out, undefined>> {
    if (!this.#isOver) {
      this.#close();
      await this.#source.return?.();
    }
    return { done: true, value: undefined };
  }

  #close(): void {
    this.#isOver = true;
    this.close();
  }

  /** What a batch has become; undefined where nothing is left of it. */
  protected abstract take(batch: In): Out | undefined;

  /** Called before each batch is asked for: throws what the last one broke off with. */
  protected check(): void {}

  /** The source has ended: throws where it should not have. */
  protected end(): void {}

  /** Called once: at the end, on a failure, or when the consumer leaves. */
  protected close(): void {}
}
