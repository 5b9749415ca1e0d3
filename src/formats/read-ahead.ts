import type { ModelEventBatch, ModelEvents } from '../plugin/index.js';

/** Events that are read at once, though nobody has asked for them yet, until `stop`: from then on at the reader's pace. */
export class ReadAhead implements ModelEvents, AsyncIterator<ModelEventBatch> {
  readonly #source: AsyncIterator<ModelEventBatch>;
  #results: (Promise<IteratorResult<ModelEventBatch>> | undefined)[] = [];
  #given = 0;
  #isStopped = false;

  constructor(events: ModelEvents) {
    this.#source = events[Symbol.asyncIterator]();
    void this.#read();
  }

  stop(): void {
    this.#isStopped = true;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<ModelEventBatch>> {
    const result = this.#results[this.#given];
    if (!result) return this.#source.next();
    this.#results[this.#given] = undefined;
    this.#given += 1;
    return result;
  }

  async return(): Promise<IteratorResult<ModelEventBatch>> {
    this.stop();
    this.#results = [];
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  /** A failure is kept for the reader. */
  async #read(): Promise<void> {
    for (let isOver = false; !isOver && !this.#isStopped;) {
      const result = this.#source.next();
      this.#results.push(result);
      isOver = await result.then(
        ({ done }) => done === true,
        () => true,
      );
    }
  }
}
