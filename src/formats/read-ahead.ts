import type { ModelEventBatch, ModelEvents } from '../plugin/index.js';

/** Read-ahead of events, before they are requested, until `stop`; then only as the reader requests them. */
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

  /** Keeps a failure until the reader gets to it. */
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
