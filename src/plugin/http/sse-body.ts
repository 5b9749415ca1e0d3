import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '../../kit/time/clock.js';
import { EventStream } from '../events/stream/event-stream.js';
import type { Flow } from '../events/stream/stream-controller.js';
import { Deadline } from '../../kit/time/deadline.js';
import { asStream, sendTo, type LazyBody } from '../../kit/direct-body.js';
import { SseStream } from './sse-stream.js';
import type { SsePiece } from './sse-text.js';

export interface SseBodyOptions {
  /** Heartbeat, sent after each silence of `keepAliveMs`. */
  readonly keepAlive: string;
  readonly keepAliveMs: number;
  /** Text instead of the heartbeat after `longSilenceMs` without another piece; empty: the heartbeat stays. */
  readonly longSilence?: (() => SsePiece) | undefined;
  /** Timers of the heartbeat; default: those of the machine. */
  readonly clock?: Clock;
  /**
   * Called if the text fails. Its writer has already put the error into the text, so the body ends as usual.
   */
  onFailure(error: unknown): void;
  /** True: after a failed text the connection is cut, so that no client takes the part for the whole. */
  readonly cutsOnFailure?: boolean;
}

/**
 * Response body with backpressure: takes the next piece of text only when the client has room for it.
 * Destroying it, as Koa does when the client disconnects, ends the text.
 */
export function sseBody(text: AsyncIterable<SsePiece>, options: SseBodyOptions): Readable {
  return new SseBody(text, options)[asStream]();
}

/** Less than half of the 300 s timeout of clients. */
const longSilenceMs = 120_000;

/** Max pending length; the text pauses above it until the next flush. Also the max bytes of a write. */
const maxPendingLength = 64 * 1024;

/**
 * Response body of `sseBody` that costs no stream unless a stage reads it. `sendTo` writes to the response: all pieces
 * of a tick in one write, together with the end of the answer.
 */
export class SseBody implements LazyBody {
  readonly #text: Flow;
  readonly #options: SseBodyOptions;
  /** Heartbeat timer; runs only while text is awaited and the client has room. */
  readonly #silence: Deadline;
  #stream: SseStream | undefined;
  #response: ServerResponse | undefined;
  /** True while the text waits for room at the client. */
  #isPaused = true;
  #isFull = false;
  #isFlushing = false;
  #hasEnded = false;
  #isCut = false;
  #isCancelled = false;
  /** Time since the last piece that was not a heartbeat. */
  #silentMs = 0;
  #pending: SsePiece[] = [];
  #pendingLength = 0;

  constructor(text: AsyncIterable<SsePiece>, options: SseBodyOptions) {
    this.#options = options;
    this.#silence = new Deadline(
      () => this.#fillSilence(),
      () => this.#isPaused || this.#isFull,
      options.clock,
    );
    const sink = {
      write: (piece: SsePiece) => this.#write(piece),
      end: (error: unknown) => this.#end(error),
    };
    this.#text = EventStream.from(text).pipe(sink);
  }

  [sendTo](response: ServerResponse): void {
    this.#response = response;
    this.#flushSoon();
    this.#resume();
  }

  [asStream](): SseStream {
    this.#stream ??= new SseStream(this);
    return this.#stream;
  }

  /** Takes the next piece for the stream. */
  read(): void {
    this.#listen();
    this.#resume();
  }

  /** Ends the text of a disconnected client; does nothing after its end. */
  cancel(reason?: unknown): void {
    this.#isCancelled = true;
    this.#silence.stop();
    if (!this.#hasEnded) this.#text.cancel(reason);
  }

  #write(piece: SsePiece): boolean {
    if (this.#isCancelled) return false;
    if (piece.length === 0) return true;
    this.#silentMs = 0;
    this.#isPaused = !(this.#response ? this.#gather(piece) : this.#give(piece));
    return !this.#isPaused;
  }

  /** Ends the body; one that a stage wraps, in a microtask, by when a disconnected client has destroyed it. */
  #end(error: unknown): void {
    this.#hasEnded = true;
    this.#silence.stop();
    if (this.#response) this.#finish(error);
    else queueMicrotask(() => this.#finish(error));
  }

  /**
   * Reports a failure before the response can close; none if the client has disconnected, which is what ended the text.
   */
  #finish(error: unknown): void {
    const hasLeft = this.#isCancelled || this.#response?.destroyed;
    if (error !== undefined && !hasLeft) this.#options.onFailure(error);
    this.#isCut = error !== undefined && this.#options.cutsOnFailure === true;
    if (this.#response) this.#flushSoon();
    else this.#stream?.push(null);
  }

  #resume(): void {
    if (!this.#isPaused || this.#hasEnded) return;
    this.#isPaused = false;
    this.#text.resume();
  }

  #give(piece: SsePiece): boolean {
    this.#listen();
    this.#stream?.push(piece);
    return false;
  }

  #gather(piece: SsePiece): boolean {
    this.#pending.push(piece);
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
    if (this.#isCancelled || !response || response.destroyed) return;
    const bytes = this.#nextPiece();
    if (this.#hasEnded && this.#pending.length === 0) {
      if (this.#isCut)
        response.write(bytes.length > 0 ? bytes : this.#options.keepAlive || '\n', () => response.destroy());
      else response.end(bytes);
      return;
    }
    if (bytes.length > 0 && !writeAtOnce(response, bytes)) {
      this.#isFull = true;
      response.once('drain', this.#drained);
    }
    this.#listen();
    if (this.#isFull) return;
    if (this.#pending.length > 0) this.#flush();
    else this.#resume();
  };

  /** Takes the pending text, of a long one a piece: Node shows no progress within a write. */
  #nextPiece(): SsePiece {
    const piece = joined(this.#pending);
    this.#pending = [];
    this.#pendingLength = 0;
    if (piece.length <= maxPendingLength) return piece;
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#pending = [bytes.subarray(maxPendingLength)];
    this.#pendingLength = bytes.length - maxPendingLength;
    return bytes.subarray(0, maxPendingLength);
  }

  readonly #drained = (): void => {
    this.#isFull = false;
    this.#flush();
  };

  /** Restarts the heartbeat timer. */
  #listen(): void {
    if (!this.#hasEnded && !this.#isCancelled) this.#silence.start(this.#intervalMs);
  }

  get #intervalMs(): number {
    const { keepAliveMs, longSilence } = this.#options;
    return longSilence ? Math.min(keepAliveMs, longSilenceMs) : keepAliveMs;
  }

  #fillSilence(): void {
    if (this.#response?.destroyed) return;
    const text = this.#heartbeat();
    if (this.#response) writeAtOnce(this.#response, text);
    else this.#stream?.push(text);
    this.#listen();
  }

  #heartbeat(): SsePiece {
    this.#silentMs += this.#intervalMs;
    const { keepAlive, longSilence } = this.#options;
    const text = longSilence && this.#silentMs >= longSilenceMs ? longSilence() : '';
    if (text.length === 0) return keepAlive;
    this.#silentMs = 0;
    return text;
  }
}

/** Writes head and chunk in one system call, now and not in the next tick. */
function writeAtOnce(response: ServerResponse, bytes: SsePiece): boolean {
  const { socket } = response;
  socket?.cork();
  const hasRoom = response.write(bytes);
  socket?.uncork();
  return hasRoom;
}

function joined(pieces: readonly SsePiece[]): SsePiece {
  if (pieces.length < 2) return pieces[0] ?? '';
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}
