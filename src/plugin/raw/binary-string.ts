/** Received lines of one read from an upstream's stream. */
export interface RawLines {
  readonly bytes: BinaryString;
  /** The same bytes as received, until their read has been passed on: kept events do not retain them. */
  received?: Buffer | undefined;
  /** True if all bytes are ASCII, so that the bytes are the text. */
  readonly isAscii: boolean;
}

/** Text of a part of the lines. */
export function textOf({ bytes, isAscii }: RawLines, from: number, to: number): string {
  const part = bytes.slice(from, to) as BinaryString; // a slice of a BinaryString
  return isAscii ? part : fromBinaryString(part);
}

/** Builder of outgoing bytes; adjacent parts of the same lines are copied as one. */
export class BinaryStringBuilder {
  #pieces: BinaryString[] = [];
  #length = 0;
  #lines: RawLines | undefined;
  #from = 0;
  #to = 0;

  add(bytes: BinaryString): void {
    this.#close();
    this.#push(bytes);
  }

  /** Adds a part of these lines, from one offset to another. */
  copy(lines: RawLines, from: number, to: number): void {
    if (lines !== this.#lines || from !== this.#to) {
      this.#close();
      this.#lines = lines;
      this.#from = from;
    }
    this.#to = to;
  }

  /** Returns all bytes, each piece written once, and resets the builder; a whole read needs no copy. */
  take(): Buffer {
    const read = this.#wholeRead();
    if (read) {
      this.#lines = undefined;
      return read;
    }
    this.#close();
    const bytes = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const piece of this.#pieces) at += bytes.write(piece, at, 'latin1');
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }

  #wholeRead(): Buffer | undefined {
    const isWhole = this.#pieces.length === 0 && this.#from === 0 && this.#to === this.#lines?.bytes.length;
    return isWhole ? this.#lines?.received : undefined;
  }

  #close(): void {
    if (!this.#lines) return;
    this.#push(this.#lines.bytes.slice(this.#from, this.#to) as BinaryString); // a slice of a BinaryString
    this.#lines = undefined;
  }

  #push(piece: BinaryString): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}

declare const isBytes: unique symbol;

/**
 * Binary string: UTF-8 with one character for each byte, so that text that only passes through is cut, joined
 * and sent without decoding. ASCII is the same in both.
 */
export type BinaryString = string & { readonly [isBytes]: true };

/** Encodes a text as UTF-8; half of a surrogate pair becomes U+FFFD. */
export function toBinaryString(text: string): BinaryString {
  const bytes = beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
  return bytes as BinaryString; // one byte per character
}

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function fromBinaryString(bytes: BinaryString): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}

const beyondAscii = /[\u0080-\uffff]/;
