import { CollectedBytes } from '../../plugin/raw/index.js';
import type { Backpressure, BodySink } from './body.js';

/** High-water mark of unread bytes, at which the upstream is paused (backpressure). */
const maxQueuedBytes = 64 * 1024;

/** Queue of a body's bytes for one consumer; leaving it early aborts the call. */
export class ByteQueue implements BodySink, AsyncIterableIterator<Buffer, undefined> {
  readonly #flow: Backpressure;
  readonly #queued = new CollectedBytes();
  #end: { readonly error: unknown } | undefined;
  #arrived: () => void = () => undefined;

  constructor(flow: Backpressure) {
    this.#flow = flow;
  }

  write(chunk: Buffer): boolean {
    this.#queued.add(chunk);
    this.#arrived();
    return this.#queued.length < maxQueuedBytes;
  }

  end(error?: unknown): void {
    this.#end ??= { error };
    this.#arrived();
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#queued.length === 0) {
      if (this.#end) return this.#finished(this.#end);
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    const value = this.#queued.take(); // before more arrives
    this.#flow.resume();
    return { done: false, value };
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    if (!this.#end) this.#flow.abort();
    this.#end = { error: undefined };
    this.#queued.clear();
    this.#arrived();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finished({ error }: { readonly error: unknown }): IteratorResult<Buffer, undefined> {
    this.#end = { error: undefined };
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }
}
