import { randomBytes } from 'node:crypto';

/**
 * Hash of JSON values under a random key: equal values have equal hashes within one process, and tell nothing
 * outside of it. Cache markers do not count, as they are no part of a prompt.
 */
export class KeyedHash {
  readonly #seeds: readonly [number, number];
  /** Words of the text that is being hashed, for native code writes texts much faster than a loop reads them. */
  readonly #scratch = Buffer.alloc(scratchBytes);
  readonly #words = new Uint32Array(this.#scratch.buffer, this.#scratch.byteOffset, scratchBytes / 4);
  #a = 0;
  #b = 0;

  constructor(key: Buffer = randomBytes(8)) {
    this.#seeds = [key.readInt32LE(0), key.readInt32LE(4)];
  }

  /** Hash of 53 bits. `salt` tells equal values of different roles apart. */
  of(value: unknown, salt = 0): number {
    [this.#a, this.#b] = this.#seeds;
    this.#mix(salt);
    this.#add(value);
    return this.#result();
  }

  /** Hash of a run of hashes. */
  join(hashes: readonly number[], from = 0, to = hashes.length): number {
    [this.#a, this.#b] = this.#seeds;
    for (let at = from; at < to; at += 1) {
      const hash = hashes[at] ?? 0;
      this.#mix(hash | 0);
      this.#mix((hash / 0x1_0000_0000) | 0);
    }
    return this.#result();
  }

  #add(value: unknown): void {
    if (typeof value === 'string') this.#addText(value);
    else if (Array.isArray(value)) {
      this.#mix(listMark ^ value.length);
      for (let at = 0; at < value.length; at += 1) this.#add(value[at]);
    } else if (typeof value === 'object' && value !== null) this.#addFields(value);
    else if (typeof value === 'number' && (value | 0) === value) this.#mix(value);
    else this.#addText(String(value));
  }

  #addFields(value: object): void {
    const fields = value as Readonly<Record<string, unknown>>; // only looked up by name
    this.#mix(objectMark);
    for (const name in fields) {
      if (name === 'cache_control') continue;
      const field = fields[name];
      if (field === undefined) continue;
      this.#addText(name);
      this.#add(field);
    }
  }

  #addText(text: string): void {
    const { length } = text;
    this.#mix(length);
    if (length < shortText) this.#addShort(text);
    else for (let at = 0; at < length; at += pieceLength) this.#addPiece(text, at);
  }

  #addShort(text: string): void {
    let a = this.#a;
    let b = this.#b;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, primeA);
      a ^= a >>> 15;
      b = Math.imul(b ^ code, primeB);
      b ^= b >>> 13;
    }
    this.#a = a;
    this.#b = b;
  }

  #addPiece(text: string, from: number): void {
    const piece = text.length <= pieceLength ? text : text.slice(from, from + pieceLength);
    const bytes = this.#scratch.write(piece, 0, 'utf8');
    for (let at = bytes; (at & 3) !== 0; at += 1) this.#scratch[at] = 0;
    const words = this.#words;
    const count = (bytes + 3) >> 2;
    let a = this.#a;
    let b = this.#b;
    for (let at = 0; at < count; at += 1) {
      const word = words[at] ?? 0;
      a = Math.imul(a ^ word, primeA);
      a ^= a >>> 15;
      b = Math.imul(b ^ word, primeB);
      b ^= b >>> 13;
    }
    this.#a = a;
    this.#b = b;
  }

  #mix(word: number): void {
    const a = Math.imul(this.#a ^ word, primeA);
    const b = Math.imul(this.#b ^ word, primeB);
    this.#a = a ^ (a >>> 15);
    this.#b = b ^ (b >>> 13);
  }

  /** Both words mixed into each other: 32 bits of one and 21 of the other. */
  #result(): number {
    const a = Math.imul(this.#a ^ (this.#a >>> 16), primeA) ^ Math.imul(this.#b ^ (this.#b >>> 13), primeB);
    const b = Math.imul(this.#b ^ (this.#b >>> 16), primeA) ^ Math.imul(a ^ (a >>> 13), primeB);
    return (a >>> 0) * 0x20_0000 + (b >>> 11);
  }
}

const shortText = 64;
const pieceLength = 16_384;

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const scratchBytes = 3 * pieceLength + 4;

const primeA = 0x85_eb_ca_6b;
const primeB = 0xc2_b2_ae_35;
const listMark = 0x5bd1_e995;
const objectMark = 0x1b87_3593;
