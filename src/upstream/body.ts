/** Takes the body of an answer as it comes. Both methods return at once. */
export interface BodySink {
  /** Takes what one read has brought; false where this is enough for now, until `flow.resume()`. */
  write(chunk: Buffer): boolean;
  /** The body is over, where `error` is given before its end. */
  end(error?: unknown): void;
}

/** What a body's reader may ask of the call. */
export interface Backpressure {
  /** There is room again: more, and the end of it, may come before this returns. Does nothing where there always was room. */
  resume(): void;
  /** Nothing more is wanted; where the body ends soon its connection can serve again. */
  finish(): void;
  /** Nothing more is wanted, and nobody waits for it. */
  abort(): void;
}
