import type { GatewayError, ModelEventBatch } from '../../plugin/index.js';

/** Sink of an answer's body. Both methods return at once. */
export interface BodySink {
  /** Receives the bytes of one read; returns false to pause until `flow.resume()` (backpressure). */
  write(chunk: Buffer): boolean;
  /** Ends the body; with `error` if it broke off. */
  end(error?: unknown): void;
}

/** Backpressure and cancellation of a call, for the reader of its body. */
export interface Backpressure {
  /**
   * Resumes a paused body; more data, or its end, may arrive before this returns. No effect if not paused.
   */
  resume(): void;
  /** Drains the rest of the body unread, so that its connection can be reused if the body ends soon. */
  finish(): void;
  /** Aborts the call at once and discards the rest of the body. */
  abort(): void;
}

/** Reader from the bytes of a body to the events of one answer. */
export interface BodyReader {
  /** Parses bytes and returns the events that they complete. */
  read(bytes: Buffer): ModelEventBatch;
  /** Releases the bytes of the events that were read last. */
  release(): void;
  /** Ends the body cleanly and returns its last events. */
  finish(): ModelEventBatch;
  readonly isComplete: boolean;
  /** Failure that ended the answer; follows the events before it. */
  readonly failure: GatewayError | undefined;
  /** True once the answer is complete or has failed. */
  readonly isOver: boolean;
  /** Time after which an answer that lacks only its formal end is finished; undefined: no limit. */
  readonly settlesInMs?: number | undefined;
}
