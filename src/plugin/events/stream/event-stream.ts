import type { ModelEventBatch } from '../events.js';
import type { Flow, Pipe, Sink, StreamController } from './stream-controller.js';
import { Chain, IterableSource, Merge } from './stream-sources.js';
import { Step, type Transform } from './stream-step.js';

/**
 * Stream of batches for one reader, which takes them by `for await`. Reads nothing before the reader asks; a reader
 * that leaves cancels the source.
 */
export class EventStream<Value = ModelEventBatch> implements AsyncIterable<Value>, Pipe<Value> {
  readonly #controller: StreamController<Value>;

  /** @internal Readable end of a controller. */
  constructor(controller: StreamController<Value>) {
    this.#controller = controller;
  }

  /** Opens an iterable of batches, a generator for example; a stream is returned as it is. */
  static from<Value>(batches: AsyncIterable<Value>): EventStream<Value> {
    if (batches instanceof EventStream) return batches;
    return new EventStream(new IterableSource(batches).controller);
  }

  /** Joins streams: `next` opens the following one when one has ended; undefined ends all. */
  static chain<Value>(
    first: EventStream<Value>,
    next: () => Promise<EventStream<Value> | undefined>,
  ): EventStream<Value> {
    return new EventStream(new Chain(first, next).controller);
  }

  /** Merges answers in order of arrival, stream `i` as choice `i`; if one fails, all end with its error. */
  static merge(streams: readonly EventStream[]): EventStream {
    return new EventStream(new Merge(streams).controller);
  }

  /**
   * Adds a step; all steps of a stream run in one call for each batch. `cancelsRest`: a transform that is over cancels
   * the source; by default the rest of that is drained.
   */
  through<Out>(transform: Transform<Value, Out>, { cancelsRest = false } = {}): EventStream<Out> {
    return new EventStream(new Step(this, transform, cancelsRest).controller);
  }

  /**
   * Reads up to the first batch and keeps it for the reader. Resolves also at an end without any; rejects if
   * the stream fails first.
   */
  opened(): Promise<void> {
    return this.#controller.opened();
  }

  /** Reads ahead until the reader arrives, or `hasRoom`, called with each value, returns false. */
  readAhead(hasRoom: (value: Value) => boolean): void {
    this.#controller.readAhead(hasRoom);
  }

  /** Passes on another error instead of the one that the stream fails with; costs nothing for each batch. */
  mapFailure(map: (error: unknown) => unknown): this {
    this.#controller.mapFailure(map);
    return this;
  }

  /** Cancels the source of a stream that has no reader. */
  cancel(reason?: unknown): void {
    this.#controller.cancel(reason);
  }

  pipe(sink: Sink<Value>): Flow {
    return this.#controller.pipe(sink);
  }

  /** @internal Reason for an error of its reader, if that is a failure of the stream; undefined if it is not. */
  reasonFor(error: unknown): unknown {
    return this.#controller.reasonFor(error);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Value, undefined> {
    return new StreamIterator(this);
  }
}

interface Read<Value> {
  resolve(result: IteratorResult<Value, undefined>): void;
  reject(error: unknown): void;
}

class StreamIterator<Value> implements Sink<Value>, AsyncIterableIterator<Value, undefined> {
  readonly #flow: Flow;
  readonly #values: Value[] = [];
  readonly #reads: Read<Value>[] = [];
  #ended: { error: unknown } | undefined;
  /** The value that was delivered last, which the reader may have failed at. */
  #last: Value | undefined;

  constructor(stream: Pipe<Value>) {
    this.#flow = stream.pipe(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reads.push({ resolve, reject });
      this.#serve();
      if (this.#reads.length > 0) this.#flow.resume();
    });
  }

  return(): Promise<IteratorResult<Value, undefined>> {
    this.#values.length = 0;
    this.#flow.faultAt?.(this.#last);
    this.#flow.cancel();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  write(value: Value): boolean {
    this.#values.push(value);
    this.#serve();
    return this.#reads.length > 0;
  }

  end(error?: unknown): void {
    this.#ended ??= { error };
    this.#serve();
  }

  /** Settles the reads that wait: values, then the error once, then the end. */
  #serve(): void {
    while (this.#values.length > 0 || this.#ended) {
      const read = this.#reads.shift();
      if (!read) return;
      const value = this.#values.shift();
      const error = this.#ended?.error;
      this.#last = value;
      if (value !== undefined) read.resolve({ done: false, value });
      else if (error === undefined) read.resolve({ done: true, value: undefined });
      else {
        this.#ended = { error: undefined };
        read.reject(error);
      }
    }
  }
}
