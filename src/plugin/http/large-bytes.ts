const blockBytes = 1024 * 1024;

/**
 * Collector of very many bytes, which frees its blocks at once when it is emptied. As garbage they would stay until long
 * after the bytes have been parsed.
 */
export class LargeBytes {
  /** Full blocks and the last one, over resizable buffers: no others can be freed at once. */
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #last: Uint8Array = noBytes;
  #length = 0;

  add(chunk: Uint8Array): void {
    const used = this.#length % blockBytes;
    if (used === 0) this.#blocks.push((this.#last = newBlock()));
    const room = blockBytes - used;
    const part = chunk.length <= room ? chunk : chunk.subarray(0, room);
    this.#last.set(part, used);
    this.#length += part.length;
    if (part !== chunk) this.add(chunk.subarray(room));
  }

  /** Moves all bytes to `target`, from `offset` on. */
  moveTo(target: Uint8Array, offset: number): void {
    this.#blocks.forEach((block, nth) => {
      const start = nth * blockBytes;
      target.set(block.subarray(0, this.#length - start), offset + start);
      free(block);
    });
    this.clear();
  }

  clear(): void {
    this.#blocks.splice(0).forEach(free);
    this.#last = noBytes;
    this.#length = 0;
  }
}

const noBytes = new Uint8Array(0);

function newBlock(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(blockBytes, { maxByteLength: blockBytes }));
}

function free({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.resize(0);
}
