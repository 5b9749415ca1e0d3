import { fromByteText, type ByteText } from './byte-text.js';

/** Received lines of one read from an upstream's stream. */
export interface WireLines {
  readonly bytes: ByteText;
  /** True if all bytes are ASCII, so that the bytes are the text. */
  readonly isAscii: boolean;
}

/** Text of a part of the lines. */
export function textOf({ bytes, isAscii }: WireLines, from: number, to: number): string {
  const part = bytes.slice(from, to) as ByteText; // a part of bytes
  return isAscii ? part : fromByteText(part);
}

/** Builder of outgoing bytes; adjacent parts of the same lines are copied as one. */
export class WireText {
  #pieces: ByteText[] = [];
  #length = 0;
  #lines: WireLines | undefined;
  #from = 0;
  #to = 0;

  add(bytes: ByteText): void {
    this.#close();
    this.#push(bytes);
  }

  /** Adds a part of these lines, from one offset to another. */
  copy(lines: WireLines, from: number, to: number): void {
    if (lines !== this.#lines || from !== this.#to) {
      this.#close();
      this.#lines = lines;
      this.#from = from;
    }
    this.#to = to;
  }

  /** Returns all bytes, each piece written once, and resets the builder. */
  take(): Buffer {
    this.#close();
    const bytes = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const piece of this.#pieces) at += bytes.write(piece, at, 'latin1');
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }

  #close(): void {
    if (!this.#lines) return;
    this.#push(this.#lines.bytes.slice(this.#from, this.#to) as ByteText); // a part of bytes
    this.#lines = undefined;
  }

  #push(piece: ByteText): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}
