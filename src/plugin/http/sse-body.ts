import type { SsePiece } from './sse-piece.js';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { openSource, type BatchReader, type BatchSource } from '../events/batch-source.js';
import { ChunkedResponse } from './chunked-response.js';
import { Deadline } from '../limits/deadline.js';

export interface SseBodyOptions {
  /** Sent after each silence of `keepAliveMs`. */
  readonly keepAlive: string;
  readonly keepAliveMs: number;
  /** The text broke off: whoever wrote it has said so in it already, and the body ends as usual. */
  onFailure(error: unknown): void;
}

/**
 * A response body that takes the next piece of text only when the client has room for it. Destroying it, as Koa does
 * when the client leaves, ends the text.
 */
export function sseBody(text: AsyncIterable<SsePiece>, options: SseBodyOptions): Readable {
  return new SseBody(openSource(text), options);
}

/** Names the method by which a body writes itself to a response, where it is still the body when all stages are done. */
export const sendTo = Symbol.for('gw2api.sendTo');

export interface DirectBody {
  [sendTo](response: ServerResponse): void;
}

/** This much goes out before more is asked for. */
const maxPendingLength = 64 * 1024;

/**
 * A stream for whoever wants to read or wrap it. Where nobody does, `sendTo` writes to the response past the machinery
 * of streams, which would take 260 of 710 µs a request: what is there when all that is ready has run goes out as one
 * write, the end of the answer with it.
 */
class SseBody extends Readable implements DirectBody, BatchReader<SsePiece> {
  readonly #text: BatchSource<SsePiece>;
  readonly #options: SseBodyOptions;
  /** Only while the client waits for more: where it does not read, its connection is not silent. */
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
    // Objects, so that a piece of text reaches the socket as the one write that it is.
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

  /** Whether there is room for more at once. */
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

  /** A tick comes when every promise that can go on has gone on. */
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

  /** A silence begins. */
  #listen(): void {
    if (!this.#hasEnded && !this.destroyed) this.#silence.start(this.#options.keepAliveMs);
  }

  #fillSilence(): void {
    if (this.#response?.destroyed) return;
    if (this.#writer) this.#writer.write([this.#options.keepAlive]);
    else this.push(this.#options.keepAlive);
    this.#listen();
  }

  /** Settles only once a pending read has; what that throws is then of no interest to anyone. */
  async #endText(): Promise<void> {
    await Promise.allSettled([this.#text.return()]);
  }
}
