import { CollectedBytes } from '../../plugin/raw/index.js';
import type { BodySink, Backpressure } from './body.js';

/** Sink that collects a body as one text: error answers, token counts, whole messages. */
export class TextBody implements BodySink {
  /** Text of the body, up to `maxBytes`; resolved also if the body breaks off. */
  readonly text: Promise<string>;
  readonly #flow: Backpressure;
  readonly #maxBytes: number;
  readonly #collected = new CollectedBytes();
  #error: unknown;
  #resolve: (text: string) => void = () => {};

  constructor(flow: Backpressure, maxBytes: number) {
    this.#flow = flow;
    this.#maxBytes = maxBytes;
    this.text = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Error that ended the body early, if any; known once `text` has resolved. */
  get error(): unknown {
    return this.#error;
  }

  write(chunk: Buffer): boolean {
    this.#collected.add(chunk);
    if (this.#collected.length >= this.#maxBytes) this.#stop();
    return true;
  }

  end(error?: unknown): void {
    this.#error = error;
    this.#resolve(this.#collected.take().toString('utf8', 0, this.#maxBytes));
  }

  #stop(): void {
    this.end();
    this.#flow.abort();
  }
}
