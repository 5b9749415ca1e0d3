import {
  type BatchReader,
  BatchSource,
  type GatewayError,
  interruptedError,
  type ModelEvent,
  type ModelEventBatch,
  type ModelEvents,
  openSource,
  toGatewayError,
} from '../plugin/index.js';

/** Consumer of events until an answer is complete. */
export interface EventReader {
  add(event: ModelEvent): void;
  /** True once every answer has had its `message_stop`; later events are ignored. */
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
 * Byte stream of a dialect, one chunk per batch; a failure writes the dialect's error event and is then
 * thrown. After a complete answer the events are drained, so that the upstream's connection can be reused.
 */
export function relay(events: ModelEvents, writer: StreamWriter): BatchSource<Buffer> {
  return new Relay(events, writer);
}

type Result = IteratorResult<Buffer, undefined>;

const nothing = Buffer.alloc(0);

class Relay extends BatchSource<Buffer> implements BatchReader<ModelEventBatch> {
  readonly #events: BatchSource<ModelEventBatch>;
  readonly #writer: StreamWriter;
  #reader: BatchReader<Buffer> | undefined;
  #isFinished = false;
  #isOver = false;
  /** Error to throw on the next read, after the dialect's error event has been sent. */
  #error: GatewayError | undefined;

  constructor(events: ModelEvents, writer: StreamWriter) {
    super();
    this.#events = openSource(events);
    this.#writer = writer;
  }

  ask(reader: BatchReader<Buffer>): Buffer | undefined {
    this.#reader = reader;
    const error = this.#error;
    this.#error = undefined;
    if (!error) return this.#advance(undefined);
    reader.fail(error);
    return undefined;
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
    const bytes = this.#advance(batch);
    if (bytes) this.#reader?.receive(bytes);
  }

  finish(): void {
    if (!this.#isOver && !this.#isFinished) return this.fail(interruptedError());
    this.#isOver = true;
    this.#reader?.finish();
  }

  fail(error: unknown): void {
    void this.#breakOff(error);
  }

  /**
   * Reads batches, starting with `first`, until there is text; undefined if the reader is called back later.
   */
  #advance(first: ModelEventBatch | undefined): Buffer | undefined {
    for (let batch = first; !this.#isOver;) {
      const bytes = batch && this.#write(batch);
      if (batch && !bytes) return undefined;
      if (bytes && bytes.length > 0) return bytes;
      batch = this.#events.ask(this);
      if (!batch) return undefined;
    }
    this.#reader?.finish();
    return undefined;
  }

  /** Text of a batch, empty if it adds none; undefined if the reader is called back later. */
  #write(batch: ModelEventBatch): Buffer | undefined {
    if (this.#isFinished) return nothing;
    try {
      for (const event of batch) this.#writer.add(event);
      if (!this.#writer.isComplete) return this.#writer.take();
      this.#finishText().catch((cause: unknown) => this.fail(cause));
    } catch (error) {
      this.fail(error);
    }
    return undefined;
  }

  async #finishText(): Promise<void> {
    await this.#writer.finish();
    this.#isFinished = true;
    const text = this.#writer.take();
    const bytes = text.length > 0 ? text : this.#advance(undefined);
    if (bytes) this.#reader?.receive(bytes);
  }

  /** Ends the stream with an error event, then the error; after a finished text errors no longer matter. */
  async #breakOff(cause: unknown): Promise<void> {
    await Promise.allSettled([this.return()]);
    if (this.#isFinished) return this.#reader?.finish();
    const error = toGatewayError(cause);
    const told = this.#tell(error);
    if (!told) return this.#reader?.fail(error);
    this.#error = error;
    this.#reader?.receive(told);
  }

  /** Undefined where the dialect itself fails at it. */
  #tell(error: GatewayError): Buffer | undefined {
    try {
      this.#writer.fail(error);
      return this.#writer.take();
    } catch {
      return undefined; // the error is thrown instead
    }
  }
}

/** Feeds a reader with all events. Throws what they throw, and `upstream_interrupted` where they just end. */
export async function readAll(events: ModelEvents, reader: EventReader): Promise<void> {
  for await (const batch of events) for (const event of batch) reader.add(event);
  if (!reader.isComplete) throw interruptedError();
}
