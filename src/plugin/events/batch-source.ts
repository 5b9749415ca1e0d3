/**
 * Observer that waits for a batch: gets one of these calls for each `ask` that returned undefined. None of
 * them throws.
 */
export interface BatchReader<Batch> {
  receive(batch: Batch): void;
  finish(): void;
  fail(error: unknown): void;
}

/**
 * Pull source of batches for one consumer, which asks for one at a time: by `next`, or by `ask`, which saves
 * the cost of a promise.
 */
export abstract class BatchSource<Batch> implements AsyncIterableIterator<Batch, undefined> {
  /**
   * Returns a batch that is ready; else undefined, and the reader is called: for an end or a failure perhaps
   * at once, for a batch later.
   */
  abstract ask(reader: BatchReader<Batch>): Batch | undefined;

  /** Cancels the source. */
  abstract return(): Promise<IteratorResult<Batch, undefined>>;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch, undefined>> {
    return new Promise((resolve, reject) => {
      const receive = (value: Batch): void => resolve({ done: false, value });
      const finish = (): void => resolve({ done: true, value: undefined });
      const batch = this.ask({ receive, finish, fail: reject });
      if (batch !== undefined) receive(batch);
    });
  }
}

/** Opens an iterable of batches as a source. */
export function openSource<Batch>(batches: AsyncIterable<Batch>): BatchSource<Batch> {
  const iterator = batches[Symbol.asyncIterator]();
  return iterator instanceof BatchSource ? iterator : new IteratorSource(iterator);
}

class IteratorSource<Batch> extends BatchSource<Batch> {
  readonly #iterator: AsyncIterator<Batch>;

  constructor(iterator: AsyncIterator<Batch>) {
    super();
    this.#iterator = iterator;
  }

  ask(reader: BatchReader<Batch>): undefined {
    void this.#tell(reader);
  }

  /** Waits for `next` of any iterator, also a hand-written one that throws at once. */
  async #tell(reader: BatchReader<Batch>): Promise<void> {
    let result: IteratorResult<Batch>;
    try {
      result = await this.#iterator.next();
    } catch (cause) {
      return reader.fail(cause);
    }
    if (result.done) reader.finish();
    else reader.receive(result.value);
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    await this.#iterator.return?.();
    return { done: true, value: undefined };
  }
}
