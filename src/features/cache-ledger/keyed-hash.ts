import { randomBytes } from 'node:crypto';

/** Hashes of the parts of a prompt, outside the heap, where the collector would copy them. */
export type Hashes = Float64Array;

/**
 * Hash of JSON values under a random key of the process, without cache markers, which are not part of a prompt. Fast
 * but not cryptographic: two 32-bit lanes joined to 53 bits, so that collisions are rare, and can only falsify the
 * cause of a loss in the colliding caller's own session.
 */
export class KeyedHash {
  readonly #seedA: number;
  readonly #seedB: number;
  /** Words of the text that is being hashed; native code writes texts faster than a loop reads them. */
  readonly #scratch = Buffer.alloc(scratchBytes);
  readonly #words = new Uint32Array(this.#scratch.buffer);
  #a = 0;
  #b = 0;

  constructor(key: Buffer = randomBytes(8)) {
    this.#seedA = key.readInt32LE(0);
    this.#seedB = key.readInt32LE(4);
  }

  /** Hash of 53 bits. `salt` distinguishes equal values of different roles. */
  of(value: unknown, salt = 0): number {
    this.#a = this.#seedA ^ salt;
    this.#b = this.#seedB;
    this.#add(value);
    return this.#result();
  }

  /** Hash of a run of hashes. */
  join(hashes: ArrayLike<number>, from = 0, to = hashes.length): number {
    this.#a = this.#seedA;
    this.#b = this.#seedB;
    for (let at = from; at < to; at += 1) {
      const hash = hashes[at] ?? 0;
      this.#mix(hash | 0);
      this.#mix((hash / 0x1_0000_0000) | 0);
    }
    return this.#result();
  }

  /** Hashes of all prefixes of the run that these lists make together. */
  prefixes(...lists: readonly ArrayLike<number>[]): Hashes {
    const hashes = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
    this.#a = this.#seedA;
    this.#b = this.#seedB;
    let end = 0;
    for (const list of lists)
      for (let at = 0; at < list.length; at += 1, end += 1) {
        const hash = list[at] ?? 0;
        this.#mix(hash | 0);
        this.#mix((hash / 0x1_0000_0000) | 0);
        hashes[end] = this.#result();
      }
    return hashes;
  }

  #add(value: unknown): void {
    if (typeof value === 'string') this.#addText(value);
    else if (Array.isArray(value)) {
      this.#mix(marks.list ^ value.length);
      for (let at = 0; at < value.length; at += 1) this.#add(value[at]);
    } else if (typeof value === 'object' && value !== null) this.#addFields(value);
    else this.#addScalar(value);
  }

  #addScalar(value: unknown): void {
    const isWord = typeof value === 'number' && (value | 0) === value;
    this.#mix(isWord ? marks.word : marks.scalar);
    if (isWord) this.#mix(value);
    else this.#addText(String(value));
  }

  #addFields(value: object): void {
    const fields = value as Readonly<Record<string, unknown>>; // only looked up by name
    this.#mix(marks.object);
    for (const name in fields) {
      if (name === 'cache_control') continue;
      const field = fields[name];
      if (field === undefined) continue;
      this.#addName(name);
      this.#add(field);
    }
    this.#mix(marks.end);
  }

  /** The names in a block of text, as most blocks are, cost one step. */
  #addName(name: string): void {
    if (name === 'type') this.#mix(marks.type);
    else if (name === 'text') this.#mix(marks.text);
    else this.#addText(name);
  }

  #addText(text: string): void {
    const { length } = text;
    this.#mix(length);
    if (length < shortText) this.#addShort(text);
    else if (length <= pieceLength) this.#addPiece(text);
    else for (let at = 0; at < length; at += pieceLength) this.#addPiece(text.slice(at, at + pieceLength));
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

  /** Each of four lanes takes every fourth word: a lane waits for itself alone, so that the processor runs them at once. */
  #addPiece(piece: string): void {
    const scratch = this.#scratch;
    const words = this.#words;
    const written = scratch.write(piece, 'utf16le');
    for (let at = written; (at & 15) !== 0; at += 1) scratch[at] = 0;
    const count = (written + 3) >> 2;
    let a = this.#a;
    let b = this.#b;
    let c = a ^ marks.list;
    let d = b ^ marks.list;
    for (let at = 0; at < count; at += 4) {
      a = Math.imul(a ^ (words[at] ?? 0), primeA);
      b = Math.imul(b ^ (words[at + 1] ?? 0), primeB);
      c = Math.imul(c ^ (words[at + 2] ?? 0), primeA);
      d = Math.imul(d ^ (words[at + 3] ?? 0), primeB);
      a ^= a >>> 15;
      b ^= b >>> 13;
      c ^= c >>> 15;
      d ^= d >>> 13;
    }
    this.#a = a;
    this.#b = b;
    this.#mix(c);
    this.#mix(d);
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

const shortText = 24;
const pieceLength = 16_384;

/** Scratch space in UTF-16, which V8 writes by copying, unlike UTF-8, and words for each lane behind it. */
const scratchBytes = 2 * pieceLength + 16;

const primeA = 0x85_eb_ca_6b;
const primeB = 0xc2_b2_ae_35;

/** Marks between values, so none ends where another one begins. */
const marks = {
  list: 0x5bd1_e995,
  object: 0x1b87_3593,
  end: 0x38b3_4ae5,
  word: 0x27d4_eb2f,
  scalar: 0x1656_67b1,
  type: 0x2a2f_7c15,
  text: 0x7f4a_94d0,
} as const;
