import {
  ask,
  interruptedError,
  nextOf,
  type BatchReader,
  type BatchSource,
  type ModelEventBatch,
} from '../plugin/index.js';
import type { BodyReader, Flow } from './body.js';
import { MessageReader } from './sse.js';

/** This much unread text stops the upstream. */
const maxQueuedBytes = 64 * 1024;

type Result = IteratorResult<ModelEventBatch, undefined>;

/**
 * The events of one answer, for one consumer: each batch is all that has arrived since the one before. Bytes wait
 * unparsed until they are asked for. Ends after `message_stop`; throws where the answer ends before, and after an
 * `error` event what it says.
 */
export class EventQueue implements BodyReader, BatchSource<ModelEventBatch> {
  readonly #flow: Flow;
  readonly #reader = new MessageReader();
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  /** Who waits for a batch. */
  #asking: BatchReader<ModelEventBatch> | undefined;
  #hasEnded = false;
  #isOver = false;
  #error: unknown;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  write(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#serve();
    return this.#queuedBytes < maxQueuedBytes;
  }

  end(error?: unknown): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#serve();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    return nextOf(this);
  }

  [ask](reader: BatchReader<ModelEventBatch>): ModelEventBatch | undefined {
    const batch = this.#take();
    if (batch.length > 0) return batch;
    this.#asking = reader;
    this.#tellEnd();
    return undefined;
  }

  /** The consumer leaves: the upstream call ends, unless all that matters has come. */
  return(): Promise<Result> {
    if (!this.#isOver) this.#flow.abort();
    this.#isOver = true;
    this.#chunks = [];
    this.#serve();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Gives the waiting consumer what there is, if there is anything. */
  #serve(): void {
    if (!this.#asking) return;
    const batch = this.#take();
    if (batch.length > 0) this.#takeReader()?.receive(batch);
    else this.#tellEnd();
  }

  #tellEnd(): void {
    if (this.#isOver) this.#takeReader()?.finish();
    else if (this.#hasEnded) this.#giveUp();
  }

  #take(): ModelEventBatch {
    const chunks = this.#chunks;
    if (chunks.length === 0 || this.#isOver) return [];
    this.#chunks = [];
    this.#queuedBytes = 0;
    const first = chunks[0];
    const bytes = first && chunks.length === 1 ? first : Buffer.concat(chunks);
    const batch = this.#reader.read(bytes);
    if (this.#reader.isOver) this.#conclude();
    else this.#flow.resume();
    return batch;
  }

  #conclude(): void {
    this.#isOver = this.#reader.isComplete;
    this.#hasEnded = true;
    this.#error = this.#reader.failure;
    this.#flow.finish();
  }

  #giveUp(): void {
    this.#isOver = true;
    this.#takeReader()?.fail(this.#error ?? interruptedError());
  }

  #takeReader(): BatchReader<ModelEventBatch> | undefined {
    const reader = this.#asking;
    this.#asking = undefined;
    return reader;
  }
}
