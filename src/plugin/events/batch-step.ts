import { BatchSource, openSource, type BatchReader } from './batch-source.js';

/**
 * Transform of batches for one consumer that asks for one at a time: like an async generator, but `return()`
 * does not wait for a pending `next()`. Cancels the source when it throws or when its consumer leaves, even
 * before the first batch.
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

  /** Cancels the source, then reports the error that led to it; errors of the cancelling are ignored. */
  async #leaveFor(cause: unknown): Promise<void> {
    await Promise.allSettled([this.return()]);
    this.#reader?.fail(cause);
  }

  /** Transforms batches, this one first, until one gives output; undefined if the reader is called later. */
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

  /** Transforms a batch; undefined if nothing is left of it. */
  protected abstract take(batch: In): Out | undefined;

  /** Called before each batch is asked for; throws the error at which the last one broke off. */
  protected check(): void {}

  /** Called at the end of the source; throws if it ended too early. */
  protected end(): void {}

  /** Called once: at the end, on a failure, or when the consumer leaves. */
  protected close(): void {}
}
