import { ask, nextOf, openSource, type BatchReader, type BatchSource } from './batch-source.js';

/**
 * One step on the way of batches: what an async generator over them would do, but `return()` does not wait for a pending
 * `next()`. For one consumer that asks for one batch at a time. The source is left when the step throws and when its
 * consumer leaves, even before the first batch.
 */
export abstract class BatchStep<In, Out> implements BatchSource<Out>, BatchReader<In> {
  readonly #source: BatchSource<In>;
  #reader: BatchReader<Out> | undefined;
  #isOver = false;

  constructor(source: AsyncIterable<In>) {
    this.#source = openSource(source);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Out, undefined>> {
    return nextOf(this);
  }

  [ask](reader: BatchReader<Out>): void {
    this.#reader = reader;
    this.#ask();
  }

  async return(): Promise<IteratorResult<Out, undefined>> {
    if (!this.#isOver) {
      this.#close();
      await this.#source.return();
    }
    return { done: true, value: undefined };
  }

  receive(batch: In): void {
    if (this.#isOver) return this.#reader?.finish();
    let taken: Out | undefined;
    try {
      taken = this.take(batch);
    } catch (error) {
      return this.fail(error);
    }
    if (taken === undefined) this.#ask();
    else this.#reader?.receive(taken);
  }

  finish(): void {
    if (!this.#isOver) {
      try {
        this.end();
      } catch (error) {
        return this.fail(error);
      }
      this.#close();
    }
    this.#reader?.finish();
  }

  fail(error: unknown): void {
    // What goes wrong on the way out is of no interest: what led to it is what counts.
    void Promise.allSettled([this.return()]).then(() => this.#reader?.fail(error));
  }

  #ask(): void {
    if (this.#isOver) return this.#reader?.finish();
    try {
      this.check();
    } catch (error) {
      return this.fail(error);
    }
    this.#source[ask](this);
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
