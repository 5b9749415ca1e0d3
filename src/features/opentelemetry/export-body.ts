import type { ExportFrame } from './otlp-json.js';

/** Body of an export, which is written where it is sent from: text that waits on the heap would be moved and marked. */
export class ExportBody {
  readonly #bytes: Buffer;
  readonly #tail: string;
  /** End of what is written, and of what may be written before the tail. */
  #end: number;
  readonly #limit: number;
  #spans = 0;

  /** `bytes`: buffer with room for the frame and more. */
  constructor(bytes: Buffer, { head, tail }: ExportFrame) {
    this.#bytes = bytes;
    this.#tail = tail;
    this.#end = bytes.write(head);
    this.#limit = bytes.length - Buffer.byteLength(tail);
  }

  get spans(): number {
    return this.#spans;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** True if JSON of so many bytes fits in. */
  hasRoom(bytes: number): boolean {
    return this.#end + 1 + bytes <= this.#limit; // 1 for its comma
  }

  /** Adds the JSON of spans, which has room. */
  add(json: string, spans: number): void {
    if (this.#spans > 0) this.#end += this.#bytes.write(',', this.#end);
    this.#end += this.#bytes.write(json, this.#end);
    this.#spans += spans;
  }

  /** Body with its end; nothing can be added any more. */
  close(): Buffer {
    const length = this.#end + this.#bytes.write(this.#tail, this.#end);
    return this.#bytes.subarray(0, length);
  }

  /** Buffer that it was written into, for another body. */
  release(): Buffer {
    return this.#bytes;
  }
}
