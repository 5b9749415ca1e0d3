import {
  EventStream,
  interruptedError,
  StreamController,
  type Flow,
  type ModelEventBatch,
} from '../plugin/internal.js';
import type { BodySink, Backpressure } from './body.js';
import { MessageReader } from './message-reader.js';

/**
 * Body of an event stream, one batch of events per read. The events end after `message_stop`; they fail if
 * the body ends before it, and with the error of an `error` event.
 */
export class EventBody implements BodySink, Flow {
  readonly #flow: Backpressure;
  readonly #parser = new MessageReader();
  readonly #controller = new StreamController<ModelEventBatch>(this);
  readonly events = new EventStream(this.#controller);
  /** True once the events have ended, which may be before their body, or were cancelled. */
  #isOver = false;

  constructor(flow: Backpressure) {
    this.#flow = flow;
  }

  write(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const hasRoom = this.#pass(this.#parser.read(chunk));
    this.#parser.release();
    if (this.#parser.isOver) this.#conclude();
    return hasRoom || this.#isOver;
  }

  /** A clean end completes the last event. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    if (error === undefined) this.#pass(this.#parser.finish());
    this.#close(error);
  }

  resume(): void {
    this.#flow.resume();
  }

  cancel(): void {
    if (!this.#isOver) this.#flow.abort();
    this.#isOver = true;
  }

  #pass(batch: ModelEventBatch): boolean {
    return batch.length === 0 || this.#controller.write(batch);
  }

  #conclude(): void {
    if (this.#isOver) return;
    this.#close(undefined);
    this.#flow.finish();
  }

  #close(error: unknown): void {
    this.#isOver = true;
    const { isComplete, failure } = this.#parser;
    if (isComplete) this.#controller.end();
    else this.#controller.fail(failure ?? error ?? interruptedError());
  }
}
