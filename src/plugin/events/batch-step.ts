import { BatchSource, openSource, type BatchReader } from './batch-source.js';

/**
 * One step on the way of batches: what an async generator over them would do, but `return()` does not wait for a pending
 * `next()`. For one consumer that asks for one batch at a time. The source is left when the step throws and when its
 * consumer leaves, even before the first batch.
 */
export abstract class BatchStep<In, Out> extends BatchSource<Out> implements BatchReader<In> {
  readonly #source: BatchSource<In>;
  #reader: BatchReader<Out> | undefined;
  #isOver = false;

  constructor(source: AsyncIterable<In>) {
    super();
    this.#source = openSource(source);
  }

  ask(reader: BatchReader<Out>): Out | undefined {
    this.#reader = reader;
    return this.#advance(undefined);
  }

  async return(): Promise<IteratorResult<Out, undefined>> {
    if (!this.#isOver) {
      this.#close();
      await this.#source.return();
    }
    return { done: true, value: undefined };
  }

  receive(batch: In): void {
    const taken = this.#advance(batch);
    if (taken !== undefined) this.#reader?.receive(taken);
  }

  finish(): void {
    try {
      if (!this.#isOver) {
        this.end();
        this.#close();
      }
    } catch (error) {
      return this.fail(error);
    }
    this.#reader?.finish();
  }

  fail(error: unknown): void {
    void this.#leaveFor(error);
  }

  /** What goes wrong on the way out is of no interest: what led to it is what counts. */
  async #leaveFor(cause: unknown): Promise<void> {
    await Promise.allSettled([this.return()]);
    this.#reader?.fail(cause);
  }

  /** Asks for batches, after this one, until something is left of one; undefined where the reader is told later. */
  #advance(first: In | undefined): Out | undefined {
    try {
      for (let batch = first; !this.#isOver;) {
        const taken = batch === undefined ? undefined : this.take(batch);
        if (taken !== undefined) return taken;
        this.check();
        batch = this.#source.ask(this);
        if (batch === undefined) return undefined;
      }
      this.#reader?.finish();
    } catch (error) {
      this.fail(error);
    }
    return undefined;
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
