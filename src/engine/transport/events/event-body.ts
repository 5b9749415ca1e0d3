import { Deadline } from '../../../kit/time/deadline.js';
import { EventStream, type Clock, type ModelEventBatch } from '../../../plugin/index.js';
import { interruptedError } from '../../../plugin/format/index.js';
import { StreamController, type Flow } from '../../../plugin/raw/index.js';
import type { Backpressure, BodyReader, BodySink } from '../body.js';
import { MessageReader } from './message-reader.js';

export interface EventBodyOptions {
  /** Decodes the bytes of each read to text; its errors fail the events. */
  readonly unframe?: ((bytes: Buffer) => Buffer) | undefined;
  /** Default: that of the Messages API. */
  readonly reader?: BodyReader;
  /** Default: that of the machine. */
  readonly clock?: Clock | undefined;
}

/**
 * Body of an event stream, one batch of events per read. The events end after `message_stop`; they fail if
 * the body ends before it, and with the error of an `error` event.
 */
export class EventBody implements BodySink, Flow {
  readonly #flow: Backpressure;
  readonly #unframe: EventBodyOptions['unframe'];
  readonly #parser: BodyReader;
  readonly #clock: Clock | undefined;
  /** Runs while the answer lacks only its formal end. */
  #settling: Deadline | undefined;
  readonly #controller = new StreamController<ModelEventBatch>(this);
  readonly events = new EventStream(this.#controller);
  /** True once the events have ended, which may be before their body, or were cancelled. */
  #isOver = false;

  constructor(flow: Backpressure, options: EventBodyOptions = {}) {
    const { unframe, reader = new MessageReader(), clock } = options;
    this.#flow = flow;
    this.#unframe = unframe;
    this.#parser = reader;
    this.#clock = clock;
  }

  write(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const text = this.#unframe ? this.#unframed(chunk, this.#unframe) : chunk;
    if (text === undefined) return true;
    const batch = this.#parser.read(text);
    const hasRoom = this.#pass(batch);
    this.#parser.release();
    const { isOver, settlesInMs } = this.#parser;
    if (isOver) this.#conclude();
    else if (settlesInMs !== undefined && (batch.length > 0 || !this.#settling)) this.#settleIn(settlesInMs);
    return hasRoom || this.#isOver;
  }

  /** Ends the events; a clean end completes the last one. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    const isEnded = error === undefined || this.#parser.settlesInMs !== undefined;
    if (isEnded) this.#pass(this.#parser.finish());
    this.#close(error);
  }

  resume(): void {
    this.#flow.resume();
  }

  cancel(): void {
    if (!this.#isOver) this.#flow.abort();
    this.#isOver = true;
    this.#settling?.stop();
  }

  /** Finishes an answer whose service neither ends nor continues it; comments do not count as a continuation. */
  #settleIn(ms: number): void {
    this.#settling ??= new Deadline(
      () => {
        this.#pass(this.#parser.finish());
        this.#conclude();
      },
      () => false,
      this.#clock,
    );
    this.#settling.start(ms);
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
    this.#settling?.stop();
    const { isComplete, failure } = this.#parser;
    if (isComplete) this.#controller.end();
    else this.#controller.fail(failure ?? error ?? interruptedError());
  }
}
