import {
  ask,
  type BatchReader,
  type BatchSource,
  type GatewayError,
  interruptedError,
  type ModelEvent,
  type ModelEventBatch,
  type ModelEvents,
  nextOf,
  openSource,
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
export function relay(events: ModelEvents, writer: StreamWriter): BatchSource<Buffer> {
  return new Relay(events, writer);
}

type Result = IteratorResult<Buffer, undefined>;

class Relay implements BatchSource<Buffer>, BatchReader<ModelEventBatch> {
  readonly #events: BatchSource<ModelEventBatch>;
  readonly #writer: StreamWriter;
  #reader: BatchReader<Buffer> | undefined;
  #isFinished = false;
  #isOver = false;
  /** What is to be thrown now that the caller has been told. */
  #error: GatewayError | undefined;

  constructor(events: ModelEvents, writer: StreamWriter) {
    this.#events = openSource(events);
    this.#writer = writer;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    return nextOf(this);
  }

  [ask](reader: BatchReader<Buffer>): void {
    this.#reader = reader;
    const error = this.#error;
    this.#error = undefined;
    if (error) reader.fail(error);
    else this.#ask();
  }

  async return(): Promise<Result> {
    this.#error = undefined;
    if (!this.#isOver) {
      this.#isOver = true;
      await this.#events.return();
    }
    return { done: true, value: undefined };
  }

  receive(batch: ModelEventBatch): void {
    if (this.#isOver || this.#isFinished) return this.#ask();
    try {
      for (const event of batch) this.#writer.add(event);
    } catch (error) {
      return this.fail(error);
    }
    if (this.#writer.isComplete) this.#finishText().catch((error: unknown) => this.fail(error));
    else this.#give();
  }

  finish(): void {
    if (!this.#isOver && !this.#isFinished) return this.fail(interruptedError());
    this.#isOver = true;
    this.#reader?.finish();
  }

  fail(error: unknown): void {
    void Promise.allSettled([this.return()]).then(() => this.#tell(error));
  }

  #ask(): void {
    if (this.#isOver) this.#reader?.finish();
    else this.#events[ask](this);
  }

  #give(): void {
    const bytes = this.#writer.take();
    if (bytes.length > 0) this.#reader?.receive(bytes);
    else this.#ask();
  }

  async #finishText(): Promise<void> {
    await this.#writer.finish();
    this.#isFinished = true;
    this.#give();
  }

  /** The caller has it all once the text is finished: what goes wrong then is not about this answer. */
  #tell(cause: unknown): void {
    if (this.#isFinished) return this.#reader?.finish();
    this.#error = toGatewayError(cause);
    this.#writer.fail(this.#error);
    this.#reader?.receive(this.#writer.take());
  }
}

/** Feeds a reader with all events. Throws what they throw, and `upstream_interrupted` where they just end. */
export async function readAll(events: ModelEvents, reader: EventReader): Promise<void> {
  for await (const batch of events) for (const event of batch) reader.add(event);
  if (!reader.isComplete) throw interruptedError();
}
