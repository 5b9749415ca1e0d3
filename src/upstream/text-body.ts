import type { BodySink, Backpressure } from './body.js';

/** A body that is wanted as one text: error answers, token counts, whole messages. */
export class TextBody implements BodySink {
  /** What came of the body, as far as `maxBytes`. */
  readonly text: Promise<string>;
  readonly #flow: Backpressure;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #error: unknown;
  #resolve: (text: string) => void = () => {};

  constructor(flow: Backpressure, maxBytes: number) {
    this.#flow = flow;
    this.#maxBytes = maxBytes;
    this.text = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** What broke the body off, where something did; known once `text` is there. */
  get error(): unknown {
    return this.#error;
  }

  write(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= this.#maxBytes) this.#stop();
    return true;
  }

  end(error?: unknown): void {
    this.#error = error;
    this.#resolve(Buffer.concat(this.#chunks).subarray(0, this.#maxBytes).toString());
  }

  #stop(): void {
    this.end();
    this.#flow.abort();
  }
}
