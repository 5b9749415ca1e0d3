/** Whoever waits for a batch: it is told one of these, once for each time it has asked in vain. None of them throws. */
export interface BatchReader<Batch> {
  receive(batch: Batch): void;
  finish(): void;
  fail(error: unknown): void;
}

/**
 * Batches for one consumer that asks for one at a time: by `next`, as anybody does, or by `ask` without a promise. A stream
 * passes five hands between its two sockets, and a promise for each of them made an event of a slow one 4 % dearer.
 */
export abstract class BatchSource<Batch> implements AsyncIterableIterator<Batch, undefined> {
  /** What is there; else undefined, and the reader is told: of an end or a failure perhaps at once, of a batch later. */
  abstract ask(reader: BatchReader<Batch>): Batch | undefined;

  /** The consumer leaves. */
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

/** Opens what gives batches. */
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

  /** Whatever a hand-written iterator makes of `next`. */
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
