/** Whoever waits for a batch: it is told one of these, once. None of them throws. */
export interface BatchReader<Batch> {
  receive(batch: Batch): void;
  finish(): void;
  fail(error: unknown): void;
}

/** Names the method by which a source is asked for one batch without a promise. */
export const ask = Symbol('ask');

/**
 * Batches for one consumer that asks for one at a time: by `next`, as anybody does, or by `ask`, which gives what is there,
 * or else undefined and tells the reader as soon as there is something, if need be before it returns. A stream passes
 * five hands between its two sockets: a promise and an async function for each of them took a tenth of the time of a slow
 * stream's event.
 */
export interface BatchSource<Batch> extends AsyncIterableIterator<Batch, undefined> {
  [ask](reader: BatchReader<Batch>): Batch | undefined;
  return(): Promise<IteratorResult<Batch, undefined>>;
}

/** Opens what gives batches. */
export function openSource<Batch>(batches: AsyncIterable<Batch>): BatchSource<Batch> {
  const iterator = batches[Symbol.asyncIterator]();
  return ask in iterator ? (iterator as BatchSource<Batch>) : new IteratorSource(iterator); // by its own word
}

/** What `next` of a source gives. */
export function nextOf<Batch>(source: BatchSource<Batch>): Promise<IteratorResult<Batch, undefined>> {
  return new Promise((resolve, reject) => {
    const receive = (value: Batch): void => resolve({ done: false, value });
    const finish = (): void => resolve({ done: true, value: undefined });
    const batch = source[ask]({ receive, finish, fail: reject });
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

  [ask](reader: BatchReader<Batch>): undefined {
    this.#iterator.next().then(
      ({ done, value }) => (done ? reader.finish() : reader.receive(value)),
      (error: unknown) => reader.fail(error),
    );
  }

  next(): Promise<IteratorResult<Batch, undefined>> {
    return nextOf(this);
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    await this.#iterator.return?.();
    return { done: true, value: undefined };
  }
}
