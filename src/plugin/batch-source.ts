/** Whoever waits for a batch: it is told one of these, once for each time it has asked in vain. None of them throws. */
export interface BatchReader<Batch> {
  receive(batch: Batch): void;
  finish(): void;
  fail(error: unknown): void;
}

/** Names the method by which a source is asked for one batch without a promise. */
export const askForBatch = Symbol('askForBatch');

/**
 * Batches for one consumer that asks for one at a time: by `next`, as anybody does, or by `askForBatch`, which gives what is
 * there; else undefined, and the reader is told: of an end or a failure perhaps at once, of a batch later. A stream passes
 * five hands between its two sockets, and a promise for each of them made an event of a slow one 4 % dearer.
 */
export interface BatchSource<Batch> extends AsyncIterableIterator<Batch, undefined> {
  [askForBatch](reader: BatchReader<Batch>): Batch | undefined;
  return(): Promise<IteratorResult<Batch, undefined>>;
}

/** Opens what gives batches. */
export function openSource<Batch>(batches: AsyncIterable<Batch>): BatchSource<Batch> {
  const iterator = batches[Symbol.asyncIterator]();
  return askForBatch in iterator ? (iterator as BatchSource<Batch>) : new IteratorSource(iterator); // by its own word
}

/** What `next` of a source gives. */
export function nextOf<Batch>(source: BatchSource<Batch>): Promise<IteratorResult<Batch, undefined>> {
  return new Promise((resolve, reject) => {
    const receive = (value: Batch): void => resolve({ done: false, value });
    const finish = (): void => resolve({ done: true, value: undefined });
    const batch = source[askForBatch]({ receive, finish, fail: reject });
    if (batch !== undefined) receive(batch);
  });
}

class IteratorSource<Batch> implements BatchSource<Batch> {
  readonly #iterator: AsyncIterator<Batch>;

  constructor(iterator: AsyncIterator<Batch>) {
    this.#iterator = iterator;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [askForBatch](reader: BatchReader<Batch>): undefined {
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

  next(): Promise<IteratorResult<Batch, undefined>> {
    return nextOf(this);
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    await this.#iterator.return?.();
    return { done: true, value: undefined };
  }
}
