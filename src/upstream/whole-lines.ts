import { isAscii } from 'node:buffer';
import type { ByteText, WireLines } from '../plugin/index.js';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from('\uFEFF').toString('latin1');
const noLines: WireLines = { bytes: '' as ByteText, isAscii: true };

/**
 * Buffer from bytes to complete lines, each ended by a line feed, whether it came with LF, CRLF or CR. Drops
 * a byte order mark at the start.
 */
export class WholeLines {
  #held: Buffer[] = [];
  #heldLength = 0;
  #isFirst = true;
  #endedInCr = false;

  /** Buffered bytes of a line that is not complete yet. */
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

  /** Ends a line at its CR at once; an LF that follows in the next read is not a line of its own. */
  #oneKindOfLineEnd(text: string): string {
    let rest = text;
    if (this.#isFirst && rest.startsWith(byteOrderMark)) rest = rest.slice(byteOrderMark.length);
    this.#isFirst = false;
    if (this.#endedInCr && rest.startsWith('\n')) rest = rest.slice(1);
    this.#endedInCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }
}

/** End of the last complete line; 0 if there is none. Most reads end with one. */
function afterLastLine(bytes: Buffer): number {
  if (bytes.at(-1) === lineFeed) return bytes.length;
  return Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
}
