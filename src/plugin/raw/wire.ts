import { fromByteText, type ByteText } from './byte-text.js';

/** Whole lines of an upstream's stream, as one read has brought them. */
export interface WireLines {
  readonly bytes: ByteText;
  /** Its bytes are its text. */
  readonly isAscii: boolean;
}

/** The text of a part of them. */
export function textOf({ bytes, isAscii }: WireLines, from: number, to: number): string {
  const part = bytes.slice(from, to) as ByteText; // a part of bytes
  return isAscii ? part : fromByteText(part);
}

/** Pieces that are to go out one after another. Those that stood beside each other are not taken apart for it. */
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

  /** Adds what stands in these lines from one place to another. */
  copy(lines: WireLines, from: number, to: number): void {
    if (lines !== this.#lines || from !== this.#to) {
      this.#close();
      this.#lines = lines;
      this.#from = from;
    }
    this.#to = to;
  }

  /** All of it, each piece written once; begins anew. */
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
