import type { SsePiece } from './sse-piece.js';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { openSource, type BatchReader, type BatchSource } from '../events/batch-source.js';
import { ChunkedResponse } from './chunked-response.js';
import { Deadline } from '../limits/deadline.js';

export interface SseBodyOptions {
  /** Heartbeat, sent after each silence of `keepAliveMs`. */
  readonly keepAlive: string;
  readonly keepAliveMs: number;
  /**
   * Called if the text fails. Its writer has already put the error into the text, so the body ends as usual.
   */
  onFailure(error: unknown): void;
}

/**
 * Response body with backpressure: pulls the next piece of text only when the client has room for it.
 * Destroying it, as Koa does when the client disconnects, ends the text.
 */
export function sseBody(text: AsyncIterable<SsePiece>, options: SseBodyOptions): Readable {
  return new SseBody(openSource(text), options);
}

/**
 * Name of the method by which a body writes itself to the response, if it is still the body after all stages.
 */
export const sendTo = Symbol.for('gw2api.sendTo');

export interface DirectBody {
  [sendTo](response: ServerResponse): void;
}

/** Max pending length; pulling pauses above it until the next flush. */
const maxPendingLength = 64 * 1024;

/**
 * Readable stream for stages that read or wrap it. If none does, `sendTo` bypasses the slower stream
 * machinery and writes to the response: all pieces that are ready in one write, the end of the answer with
 * them.
 */
class SseBody extends Readable implements DirectBody, BatchReader<SsePiece> {
  readonly #text: BatchSource<SsePiece>;
  readonly #options: SseBodyOptions;
  /** Heartbeat timer; runs only while text is awaited and the client has room. */
  readonly #silence = new Deadline(
    () => this.#fillSilence(),
    () => !this.#isPulling || this.#isFull,
  );
  #response: ServerResponse | undefined;
  #writer: ChunkedResponse | undefined;
  #isPulling = false;
  #isFull = false;
  #isFlushing = false;
  #hasEnded = false;
  #pending: SsePiece[] = [];
  #pendingLength = 0;

  constructor(text: BatchSource<SsePiece>, options: SseBodyOptions) {
    // Object mode, so that each piece of text reaches the socket as one write.
    super({ objectMode: true, highWaterMark: 1 });
    this.#text = text;
    this.#options = options;
  }

  [sendTo](response: ServerResponse): void {
    this.#response = response;
    this.#writer = new ChunkedResponse(response);
    response.once('close', () => this.destroy());
    this.#flushSoon();
    this.#pull();
  }

  override _read(): void {
    this.#listen();
    this.#pull();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#silence.stop();
    if (!this.#hasEnded) void this.#endText();
    done(error);
  }

  #pull(): void {
    if (this.#isPulling) return;
    for (let wantsMore = true; wantsMore;) {
      this.#isPulling = true;
      const piece = this.#text.ask(this);
      if (piece === undefined) return;
      this.#isPulling = false;
      wantsMore = this.#take(piece);
    }
  }

  receive(piece: SsePiece): void {
    this.#isPulling = false;
    if (this.#take(piece)) this.#pull();
  }

  /** Passes a piece on; returns true if there is room for more at once. */
  #take(piece: SsePiece): boolean {
    if (this.destroyed) return false;
    if (this.#response) return this.#gather(piece);
    if (piece.length === 0) return true;
    this.#listen();
    this.push(piece);
    return false;
  }

  fail(error: unknown): void {
    if (!this.destroyed) this.#options.onFailure(error);
    this.finish();
  }

  finish(): void {
    this.#isPulling = false;
    this.#hasEnded = true;
    this.#silence.stop();
    if (this.#response) this.#flushSoon();
    else this.push(null);
  }

  #gather(piece: SsePiece): boolean {
    if (piece.length > 0) this.#pending.push(piece);
    this.#pendingLength += piece.length;
    this.#flushSoon();
    return !this.#isFull && this.#pendingLength < maxPendingLength;
  }

  /** Schedules a flush for the next tick, when all promises that are ready have run. */
  #flushSoon(): void {
    if (this.#isFlushing || this.#isFull) return;
    this.#isFlushing = true;
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushing = false;
    const response = this.#response;
    if (this.destroyed || !response || response.destroyed) return;
    const pieces = this.#pending;
    this.#pending = [];
    this.#pendingLength = 0;
    if (this.#hasEnded) {
      this.#writer?.end(pieces);
      return;
    }
    if (pieces.length > 0 && !this.#writer?.write(pieces)) {
      this.#isFull = true;
      this.#writer?.onceDrained(this.#drained);
    }
    this.#listen();
    if (!this.#isFull) this.#pull();
  };

  readonly #drained = (): void => {
    this.#isFull = false;
    this.#flush();
  };

  /** Restarts the heartbeat timer. */
  #listen(): void {
    if (!this.#hasEnded && !this.destroyed) this.#silence.start(this.#options.keepAliveMs);
  }

  #fillSilence(): void {
    if (this.#response?.destroyed) return;
    if (this.#writer) this.#writer.write([this.#options.keepAlive]);
    else this.push(this.#options.keepAlive);
    this.#listen();
  }

  /** Ends the text. Waits for a pending read and ignores its error, since nobody reads the text any more. */
  async #endText(): Promise<void> {
    await Promise.allSettled([this.#text.return()]);
  }
}
