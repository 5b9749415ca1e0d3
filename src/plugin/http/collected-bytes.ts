import { LargeBytes } from './large-bytes.js';

/** Chunks from this size on are kept as they are; smaller ones are copied together. */
const minKeptBytes = 4 * 1024;

const minBlockBytes = 4 * 1024;
const maxBlockBytes = 64 * 1024;

/** Bytes after which further ones are copied, so that they can be freed at once when they have been joined. */
const largeFrom = 1024 * 1024;

/**
 * Collector of the chunks that others send. Small chunks are copied into blocks, as each buffer costs some
 * hundred bytes beside its own, and those of a large body into blocks that are freed at once; a single chunk is
 * returned as it is.
 */
export class CollectedBytes {
  #length = 0;
  /** Only chunk so far. */
  #single: Uint8Array | undefined;
  #pieces: Uint8Array[] = [];
  #block: Buffer | undefined;
  /** Range of the block that is not among the pieces yet. */
  #from = 0;
  #to = 0;
  /** Further bytes of a large body. */
  #large: LargeBytes | undefined;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const isFirst = this.#length === 0;
    this.#length += chunk.length;
    if (isFirst) {
      this.#single = chunk;
      return;
    }
    if (this.#single) this.#append(this.#single);
    this.#single = undefined;
    this.#append(chunk);
  }

  /** Returns all bytes and starts over. */
  take(): Buffer {
    this.#closeRange();
    const [first = noBytes, ...others] = this.#single ? [this.#single] : this.#pieces;
    const isOne = others.length === 0 && !this.#large;
    const bytes = isOne ? asBuffer(first) : this.#joined();
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#large?.clear();
    this.#large = undefined;
    this.#length = 0;
    this.#single = undefined;
    this.#pieces = [];
    this.#block = undefined;
    this.#from = 0;
    this.#to = 0;
  }

  #joined(): Buffer {
    if (!this.#large) return Buffer.concat(this.#pieces, this.#length);
    const bytes = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#large.moveTo(bytes, at);
    return bytes;
  }

  #append(chunk: Uint8Array): void {
    if (this.#length > largeFrom) return (this.#large ??= new LargeBytes()).add(chunk);
    if (chunk.length < minKeptBytes) return this.#copy(chunk);
    this.#closeRange();
    this.#pieces.push(chunk);
  }

  #copy(chunk: Uint8Array): void {
    if (!this.#block || this.#block.length - this.#to < chunk.length) this.#openBlock();
    this.#block?.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  /** Opens a block of twice the size of the last one, which has room for any small chunk. */
  #openBlock(): void {
    this.#closeRange();
    const size = this.#block ? Math.min(2 * this.#block.length, maxBlockBytes) : minBlockBytes;
    this.#block = Buffer.allocUnsafeSlow(size);
    this.#from = 0;
    this.#to = 0;
  }

  #closeRange(): void {
    if (this.#block && this.#to > this.#from) this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}

const noBytes = Buffer.alloc(0);

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Reads a body to its end; above `maxBytes` abandons it and throws the result of `tooLarge`. */
export async function collectBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of body) {
    collected.add(chunk);
    if (collected.length > maxBytes) throw tooLarge();
  }
  return collected.take();
}
