import {
  interruptedError,
  type BatchReader,
  BatchSource,
  joinBytes,
  type ModelEventBatch,
} from '../plugin/index.js';
import type { BodySink, Backpressure } from './body.js';
import { MessageReader } from './sse.js';

/** High-water mark of unread text, at which the upstream is paused (backpressure). */
const maxQueuedBytes = 64 * 1024;

type Result = IteratorResult<ModelEventBatch, undefined>;

/**
 * Queue of one answer's events for one consumer; each batch is all that has arrived since the last, parsed on
 * demand. Ends after `message_stop`; throws if the answer ends before it, or the error of an `error` event.
 */
export class EventQueue extends BatchSource<ModelEventBatch> implements BodySink {
  readonly #flow: Backpressure;
  readonly #parser = new MessageReader();
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  /** Consumer that waits for a batch. */
  #waiting: BatchReader<ModelEventBatch> | undefined;
  #hasEnded = false;
  #isOver = false;
  #error: unknown;

  constructor(flow: Backpressure) {
    super();
    this.#flow = flow;
  }

  write(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#serve();
    return this.#queuedBytes < maxQueuedBytes;
  }

  end(error?: unknown): void {
    if (this.#hasEnded) return; // the answer has ended before its body
    this.#hasEnded = true;
    this.#error = error;
    this.#serve();
  }

  ask(reader: BatchReader<ModelEventBatch>): ModelEventBatch | undefined {
    const batch = this.#take();
    if (batch.length > 0) return batch;
    this.#keepWaiting(reader);
    return undefined;
  }

  /** Cancels the stream: aborts the upstream call, unless the answer is complete. */
  return(): Promise<Result> {
    if (!this.#isOver) this.#flow.abort();
    this.#isOver = true;
    this.#chunks = [];
    this.#serve();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Delivers the available events to the waiting consumer, if there are any. */
  #serve(): void {
    const reader = this.#waiting;
    if (!reader) return;
    this.#waiting = undefined;
    const batch = this.#take();
    if (batch.length > 0) reader.receive(batch);
    else this.#keepWaiting(reader);
  }

  /** Keeps the consumer waiting, or ends it if nothing more will come. */
  #keepWaiting(reader: BatchReader<ModelEventBatch>): void {
    if (this.#isOver) reader.finish();
    else if (!this.#hasEnded) this.#waiting = reader;
    else {
      this.#isOver = true;
      reader.fail(this.#error ?? interruptedError());
    }
  }

  #take(): ModelEventBatch {
    while (this.#chunks.length > 0 && !this.#isOver) {
      const batch = this.#parser.read(this.#takeBytes());
      if (this.#parser.isOver) this.#conclude();
      else this.#flow.resume(); // may bring more, and the end of it, before it returns
      if (batch.length > 0) return batch;
    }
    return this.#takeLast();
  }

  /** Last event, completed by a clean end. */
  #takeLast(): ModelEventBatch {
    if (!this.#hasEnded || this.#isOver || this.#error !== undefined) return [];
    const batch = this.#parser.finish();
    if (this.#parser.isOver) this.#conclude();
    return batch;
  }

  #takeBytes(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#queuedBytes = 0;
    return joinBytes(chunks);
  }

  #conclude(): void {
    this.#isOver = this.#parser.isComplete;
    this.#hasEnded = true;
    this.#error = this.#parser.failure;
    this.#flow.finish();
  }
}
