import type { Clock } from '../../plugin/internal.js';

interface SpanQueueOptions {
  /** Exports the encoded spans; resolves, also where it has failed. */
  readonly send: (spans: readonly string[], count: number) => Promise<void>;
  /** Is told of spans that the queue had no room for. */
  readonly onDropped: (count: number) => void;
  readonly clock: Pick<Clock, 'setTimer'>;
}

/** Bounded queue of encoded spans, exported one batch after the other: after a second, or once there is a batch. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: { readonly text: string; readonly count: number }[] = [];
  #count = 0;
  #length = 0;
  #cancelTimer: (() => void) | undefined;
  #exporting: Promise<void> | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Adds the spans of one request. */
  add(text: string, count: number): void {
    const isFull = this.#count + count > maxWaiting || this.#length + text.length > maxLength;
    if (isFull) return this.#options.onDropped(count);
    this.#waiting.push({ text, count });
    this.#count += count;
    this.#length += text.length;
    if (this.#count >= batchSpans) void this.#start();
    else this.#startLater();
  }

  /** Exports what is waiting; resolves when that is done. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    await this.#exporting;
    while (this.#count > 0) await this.#exportBatch();
  }

  #start(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#exporting ??= this.#exportAll().finally(() => {
      this.#exporting = undefined;
    });
    return this.#exporting;
  }

  async #exportAll(): Promise<void> {
    if (this.#count > 0) await this.#exportBatch();
    while (this.#count >= batchSpans) await this.#exportBatch();
    if (this.#count > 0) this.#startLater();
  }

  #startLater(): void {
    this.#cancelTimer ??= this.#options.clock.setTimer(() => void this.#start(), delayMs);
  }

  async #exportBatch(): Promise<void> {
    const texts: string[] = [];
    let [count, length] = [0, 0];
    for (const one of this.#waiting) {
      if (count >= batchSpans || length >= batchLength) break;
      texts.push(one.text);
      count += one.count;
      length += one.text.length;
    }
    this.#length -= length;
    this.#waiting = this.#waiting.slice(texts.length);
    this.#count -= count;
    await this.#options.send(texts, count);
  }
}

/** Spans and characters of an export, or a few more: those of one request stay together. */
const batchSpans = 512;
const batchLength = 2 * 2 ** 20;
const delayMs = 1000;

/** Max spans that wait, and max characters of them. */
const maxWaiting = 8192;
const maxLength = 16 * 2 ** 20;
