import { batchFault } from './batch-fault.js';

/** Receiver of a stream. Its methods return at once and never throw. */
export interface Sink<Value> {
  /** Takes a value; false pauses the source until the sink resumes it (backpressure). */
  write(value: Value): boolean;
  /** End of the stream; with the error if it failed. */
  end(error?: unknown): void;
}

/** Control of a source by its sink. */
export interface Flow {
  /** Starts the source, or resumes a paused one; values may arrive before this returns. */
  resume(): void;
  /** Cancels the source: nothing more is delivered, nor the end. */
  cancel(reason?: unknown): void;
  /** Fault of the stream itself, if its reader fails at a value that is not a batch; `error`: the reader's. */
  faultAt?(value: unknown, error?: unknown): Error | undefined;
}

/** Readable end of a stream, for one sink. */
export interface Pipe<Value> {
  /** Connects the sink; values arrive once it resumes the flow. */
  pipe(sink: Sink<Value>): Flow;
}

/**
 * Passes values from a source to the one sink of a stream, which is often connected later. Holds values while the sink
 * has no room.
 */
export class StreamController<Value> implements Sink<Value>, Flow, Pipe<Value> {
  readonly #source: Flow;
  readonly #held: Value[] = [];
  #sink: Sink<Value> | undefined;
  #isFlowing = false;
  #hasRoomAhead: ((value: Value) => boolean) | undefined;
  #ended: { readonly error: unknown } | undefined;
  #mapFailure: ((error: unknown) => unknown) | undefined;
  /** Error of a value that its reader failed at. */
  #fault: Error | undefined;
  #opened: Promise<void> | undefined;
  #opening: { resolve(): void; reject(error: unknown): void } | undefined;

  constructor(source: Flow) {
    this.#source = source;
  }

  write(value: Value): boolean {
    if (this.#ended) return false;
    if (this.#isFlowing && this.#sink) return (this.#isFlowing = this.#sink.write(value));
    this.#held.push(value);
    this.#opening?.resolve();
    this.#opening = undefined; // V8 reports each further resolution
    if (this.#sink) return false;
    return this.#hasRoomAhead ? this.#hasRoomAhead(value) : this.#held.length < maxUnread;
  }

  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = { error: error === undefined ? undefined : (this.#mapFailure?.(error) ?? error) };
    if (this.#held.length === 0) this.#close();
  }

  /** Ends the stream with an error, of any thrown value. */
  fail(error: unknown): void {
    this.end(error ?? new TypeError(`The stream failed with ${String(error)}.`));
  }

  /** Passes on another error instead of the one that the stream fails with. */
  mapFailure(map: (error: unknown) => unknown): void {
    const before = this.#mapFailure;
    this.#mapFailure = before ? (error) => map(before(error)) : map;
    if (this.#ended?.error !== undefined) this.#ended = { error: map(this.#ended.error) };
  }

  faultAt(value: unknown, error?: unknown): Error | undefined {
    return (this.#fault ??= batchFault(value, error));
  }

  /** Keeps the fault of the preceding stream as the cause of this failure. */
  blame(fault: Error | undefined): void {
    this.#fault ??= fault;
  }

  /** Reason for `error`, if the stream failed with it or its reader failed at a value. */
  reasonFor(error: unknown): unknown {
    return this.#fault ?? (this.#ended?.error === error ? error : undefined);
  }

  resume(): void {
    if (!this.#sink) return;
    this.#isFlowing = true;
    for (let value; this.#isFlowing && (value = this.#held.shift()) !== undefined;)
      this.#isFlowing = this.#sink.write(value);
    if (!this.#isFlowing) return;
    if (this.#ended) this.#close();
    else this.#source.resume();
  }

  cancel(reason?: unknown): void {
    this.#sink = undefined;
    this.#held.length = 0;
    if (this.#ended) return;
    this.end();
    this.#source.cancel(reason);
  }

  pipe(sink: Sink<Value>): Flow {
    if (this.#sink) throw new TypeError('These events already have a reader.');
    this.#sink = sink;
    this.#hasRoomAhead = undefined;
    return this;
  }

  readAhead(hasRoom: (value: Value) => boolean): void {
    this.#hasRoomAhead = hasRoom;
    this.#source.resume();
  }

  opened(): Promise<void> {
    this.#opened ??= new Promise((resolve, reject) => {
      if (this.#held.length > 0) return resolve();
      this.#opening = { resolve, reject };
      if (this.#ended) this.#close();
      else this.#source.resume();
    });
    return this.#opened;
  }

  /** Delivers the end, after all held values. */
  #close(): void {
    const sink = this.#sink;
    const error = this.#ended?.error;
    if (error === undefined) this.#opening?.resolve();
    else this.#opening?.reject(error);
    this.#sink = undefined;
    sink?.end(error);
  }
}

/** Number of values that a source may deliver before there is a sink. */
const maxUnread = 2;
