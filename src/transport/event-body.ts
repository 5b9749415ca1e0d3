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
  readonly #unframe: ((bytes: Buffer) => Buffer) | undefined;
  readonly #parser = new MessageReader();
  readonly #controller = new StreamController<ModelEventBatch>(this);
  readonly events = new EventStream(this.#controller);
  /** True once the events have ended, which may be before their body, or were cancelled. */
  #isOver = false;

  constructor(flow: Backpressure, unframe?: (bytes: Buffer) => Buffer) {
    this.#flow = flow;
    this.#unframe = unframe;
  }

  write(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const text = this.#unframe ? this.#unframed(chunk, this.#unframe) : chunk;
    if (text === undefined) return true;
    const hasRoom = this.#pass(this.#parser.read(text));
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

  /** Text within the frames of a read; undefined if they are broken, which ends the call. */
  #unframed(chunk: Buffer, unframe: (bytes: Buffer) => Buffer): Buffer | undefined {
    try {
      return unframe(chunk);
    } catch (error) {
      this.#close(error ?? interruptedError());
      this.#flow.abort();
      return undefined;
    }
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
