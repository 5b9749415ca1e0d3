import {
  type GatewayError,
  interruptedError,
  type ModelEvent,
  type ModelEventBatch,
  type ModelEvents,
  toGatewayError,
} from '../plugin/index.js';

/** Whatever takes events until an answer is complete. */
export interface EventReader {
  add(event: ModelEvent): void;
  /** Whether every answer has had its `message_stop`; what comes afterwards is passed over. */
  readonly isComplete: boolean;
}

/** Turns events into the text of one dialect. */
export interface StreamWriter extends EventReader {
  /** Adds the end of a complete stream, with its success marker. */
  finish(): void | Promise<void>;
  /** Adds the end of a broken one: the dialect's error event. */
  fail(error: GatewayError): void;
  /** The UTF-8 of what was added since the last call. */
  take(): Buffer;
}

/**
 * The bytes of a stream, one piece for each batch. A failure gives the dialect's error event and is then thrown. Once
 * the answer is complete the events are only drained, so that the upstream's connection can be used again.
 */
export function relay(events: ModelEvents, writer: StreamWriter): AsyncIterableIterator<Buffer, undefined> {
  return new Relay(events, writer);
}

type Result = IteratorResult<Buffer, undefined>;

/** No generator, which would take twice as long a batch: many a batch is one event. */
class Relay implements AsyncIterableIterator<Buffer, undefined> {
  readonly #events: AsyncIterator<ModelEventBatch>;
  readonly #writer: StreamWriter;
  #isFinished = false;
  #isOver = false;
  /** What is to be thrown now that the caller has been told. */
  #error: GatewayError | undefined;

  constructor(events: ModelEvents, writer: StreamWriter) {
    this.#events = events[Symbol.asyncIterator]();
    this.#writer = writer;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    if (this.#error) throw this.#takeError(this.#error);
    try {
      while (!this.#isOver) {
        const { done, value } = await this.#events.next();
        if (this.#isOver) break;
        if (done) this.#end();
        else if (!this.#isFinished) {
          const written = this.#write(value);
          const bytes = written instanceof Promise ? await written : written; // most is there at once
          if (bytes.length > 0) return { done: false, value: bytes };
        }
      }
      return { done: true, value: undefined };
    } catch (cause) {
      return await this.#fail(cause);
    }
  }

  async return(): Promise<Result> {
    this.#error = undefined;
    if (!this.#isOver) {
      this.#isOver = true;
      await this.#events.return?.();
    }
    return { done: true, value: undefined };
  }

  #write(batch: ModelEventBatch): Buffer | Promise<Buffer> {
    const writer = this.#writer;
    for (const event of batch) writer.add(event);
    return writer.isComplete ? this.#finish() : writer.take();
  }

  async #finish(): Promise<Buffer> {
    await this.#writer.finish();
    this.#isFinished = true;
    return this.#writer.take();
  }

  #end(): void {
    if (!this.#isFinished) throw interruptedError();
    this.#isOver = true;
  }

  async #fail(cause: unknown): Promise<Result> {
    await Promise.allSettled([this.return()]);
    // The caller has it all: what goes wrong now is not about this answer.
    if (this.#isFinished) return { done: true, value: undefined };
    const error = toGatewayError(cause);
    this.#writer.fail(error);
    this.#error = error;
    return { done: false, value: this.#writer.take() };
  }

  #takeError(error: GatewayError): GatewayError {
    this.#error = undefined;
    return error;
  }
}

/** Feeds a reader with all events. Throws what they throw, and `upstream_interrupted` where they just end. */
export async function readAll(events: ModelEvents, reader: EventReader): Promise<void> {
  for await (const batch of events) for (const event of batch) reader.add(event);
  if (!reader.isComplete) throw interruptedError();
}
