import type { ModelEventBatch, ModelEvents } from '../plugin/index.js';

type Result = IteratorResult<ModelEventBatch>;

/**
 * The same events, read from now on and kept until somebody wants them; from then on as they are asked for. What waits
 * for others that way ends its upstream call and gives its place back.
 */
export function readAhead(events: ModelEvents): ModelEvents {
  const iterator = new ReadAhead(events[Symbol.asyncIterator]());
  return { [Symbol.asyncIterator]: () => iterator };
}

class ReadAhead implements AsyncIterator<ModelEventBatch> {
  readonly #source: AsyncIterator<ModelEventBatch>;
  readonly #read: Promise<Result>[] = [];
  #isWanted = false;

  constructor(source: AsyncIterator<ModelEventBatch>) {
    this.#source = source;
    void this.#readOn();
  }

  next(): Promise<Result> {
    this.#isWanted = true;
    return this.#read.shift() ?? this.#source.next();
  }

  async return(): Promise<Result> {
    this.#isWanted = true;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  async #readOn(): Promise<void> {
    while (!this.#isWanted) {
      const next = this.#source.next();
      this.#read.push(next);
      const [result] = await Promise.allSettled([next]);
      if (result.status === 'rejected' || result.value.done) return;
    }
  }
}
