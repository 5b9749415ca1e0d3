import { Readable } from 'node:stream';

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
export function sseBody(text: AsyncIterable<string>, options: SseBodyOptions): Readable {
  return new SseBody(text[Symbol.asyncIterator](), options);
}

class SseBody extends Readable {
  readonly #text: AsyncIterator<string>;
  readonly #options: SseBodyOptions;
  readonly #timer: NodeJS.Timeout;
  #isPulling = false;

  constructor(text: AsyncIterator<string>, options: SseBodyOptions) {
    // Objects, so that a piece of text reaches the socket as the one write that it is.
    super({ objectMode: true, highWaterMark: 1 });
    this.#text = text;
    this.#options = options;
    this.#timer = setInterval(() => this.#fillSilence(), options.keepAliveMs).unref();
  }

  override _read(): void {
    if (this.#isPulling) return;
    this.#isPulling = true;
    this.#text.next().then(
      ({ done, value }) => this.#write(done ? null : value),
      (error: unknown) => {
        if (!this.destroyed) this.#options.onFailure(error);
        this.#write(null);
      },
    );
  }

  #write(piece: string | null): void {
    this.#isPulling = false;
    if (piece === null) clearInterval(this.#timer);
    else this.#timer.refresh();
    if (piece === '') this._read();
    else this.push(piece);
  }

  /** Only while the client waits for more: where it does not read, its connection is not silent. */
  #fillSilence(): void {
    if (this.#isPulling) this.push(this.#options.keepAlive);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#timer);
    void this.#endText();
    done(error);
  }

  /** Settles only once a pending read has; what that throws is then of no interest to anyone. */
  async #endText(): Promise<void> {
    await Promise.allSettled([this.#text.return?.()]);
  }
}
