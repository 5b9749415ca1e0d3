import type { ModelEventBatch } from '../events.js';
import { StreamController, type Flow, type Pipe, type Sink } from './stream-controller.js';

/** Reads an iterable of batches, as fast as there is room for them. */
export class IterableSource<Value> implements Flow {
  readonly controller = new StreamController<Value>(this);
  readonly #iterator: AsyncIterator<Value>;
  #isReading = false;
  #isOver = false;

  constructor(batches: AsyncIterable<Value>) {
    this.#iterator = batches[Symbol.asyncIterator]();
  }

  resume(): void {
    if (!this.#isReading && !this.#isOver) void this.#read();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#leave();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      for (let hasRoom = true; hasRoom && !this.#isOver;) {
        const { done, value } = await this.#iterator.next();
        if (!done) hasRoom = this.controller.write(value);
        else {
          this.#isOver = true;
          this.controller.end();
        }
      }
    } catch (error) {
      this.#isOver = true;
      this.controller.fail(error);
    }
    this.#isReading = false;
  }

  /** Abandons the iterator, without waiting for it: its read may take long, and its error no longer matters. */
  async #leave(): Promise<void> {
    await Promise.allSettled([(async () => this.#iterator.return?.())()]);
  }
}

/** Reads one stream after another, each opened when the one before it has ended. */
export class Chain<Value> implements Sink<Value>, Flow {
  readonly controller = new StreamController<Value>(this);
  readonly #next: () => Promise<Pipe<Value> | undefined>;
  #source: Flow;
  #isOver = false;

  constructor(first: Pipe<Value>, next: () => Promise<Pipe<Value> | undefined>) {
    this.#source = first.pipe(this);
    this.#next = next;
  }

  write(value: Value): boolean {
    return this.controller.write(value);
  }

  end(error?: unknown): void {
    if (error === undefined) void this.#continue();
    else this.controller.fail(error);
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(reason?: unknown): void {
    this.#isOver = true;
    this.#source.cancel(reason);
  }

  async #continue(): Promise<void> {
    try {
      const next = await this.#next();
      if (!next) return this.controller.end();
      this.#source = next.pipe(this);
      if (this.#isOver) this.#source.cancel();
      else this.#source.resume();
    } catch (error) {
      this.controller.fail(error);
    }
  }
}

/** Reads several answers at once, in order of arrival. */
export class Merge implements Flow {
  readonly controller = new StreamController<ModelEventBatch>(this);
  readonly #sources: readonly Flow[];
  #open: number;

  constructor(streams: readonly Pipe<ModelEventBatch>[]) {
    this.#open = streams.length;
    this.#sources = streams.map((stream, choice) =>
      stream.pipe({
        write: (batch) => this.controller.write(batch.map((event) => event.withChoice(choice))),
        end: (error) => this.#end(error),
      }),
    );
  }

  resume(): void {
    for (const source of this.#sources) source.resume();
  }

  cancel(reason?: unknown): void {
    for (const source of this.#sources) source.cancel(reason);
  }

  #end(error: unknown): void {
    this.#open -= 1;
    if (error !== undefined) {
      this.cancel(error);
      this.controller.fail(error);
    } else if (this.#open === 0) this.controller.end();
  }
}
