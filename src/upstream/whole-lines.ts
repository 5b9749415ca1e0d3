import { isAscii } from 'node:buffer';
import type { ByteText, WireLines } from '../plugin/index.js';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from('\uFEFF').toString('latin1');
const noLines: WireLines = { bytes: '' as ByteText, isAscii: true };

/**
 * Bytes to the lines that they complete, each ended by a line feed, whether it came with LF, CRLF or CR. A byte order mark
 * at the very beginning is left out.
 */
export class WholeLines {
  #held: Buffer[] = [];
  #heldLength = 0;
  #isFirst = true;
  #endedInCr = false;

  /** How many bytes wait for the end of their line. */
  get heldLength(): number {
    return this.#heldLength;
  }

  read(bytes: Buffer): WireLines {
    const end = afterLastLine(bytes);
    if (end === 0) {
      this.#hold(bytes);
      return noLines;
    }
    const lines = end === bytes.length ? bytes : bytes.subarray(0, end);
    const whole = this.#heldLength === 0 ? lines : Buffer.concat([...this.#held, lines]);
    this.#held = [];
    this.#heldLength = 0;
    this.#hold(bytes.subarray(end));
    const text = this.#oneKindOfLineEnd(whole.toString('latin1'));
    return { bytes: text as ByteText, isAscii: isAscii(whole) }; // decoded byte by byte
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldLength += bytes.length;
  }

  /** A CR ends its line at once; the LF that may follow it then is no line of its own. */
  #oneKindOfLineEnd(text: string): string {
    let rest = text;
    if (this.#isFirst && rest.startsWith(byteOrderMark)) rest = rest.slice(byteOrderMark.length);
    this.#isFirst = false;
    if (this.#endedInCr && rest.startsWith('\n')) rest = rest.slice(1);
    this.#endedInCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }
}

/** Where the last whole line ends; 0 where there is none. Most reads end with one. */
function afterLastLine(bytes: Buffer): number {
  if (bytes.at(-1) === lineFeed) return bytes.length;
  return Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
}
