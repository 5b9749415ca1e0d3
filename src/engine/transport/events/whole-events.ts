import { CollectedBytes } from '../../../plugin/raw/index.js';

/**
 * Buffer from the bytes of an event stream to its complete events, each up to its empty line. Drops a byte
 * order mark at the start.
 */
export class WholeEvents {
  readonly #held = new CollectedBytes();
  #heldBytes = 0;
  /** Last held byte, which with the first of the next read may end an event. */
  #lastHeld: number | undefined;
  #isFirst = true;

  /** Bytes of memory needed for the event that is not complete yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns the events that these bytes complete; none if they complete no event. */
  read(bytes: Buffer): Buffer {
    const end = lastEventEnd(bytes, this.#lastHeld);
    if (end === -1) {
      this.#hold(bytes);
      return noBytes;
    }
    const last = end === bytes.length ? bytes : bytes.subarray(0, end);
    const events = this.#withHeld(last);
    this.#heldBytes = 0;
    this.#lastHeld = undefined;
    if (end < bytes.length) this.#hold(bytes.subarray(end));
    return this.#withoutMark(events);
  }

  #withHeld(last: Buffer): Buffer {
    if (this.#held.length === 0) return last;
    this.#held.add(last);
    return this.#held.take();
  }

  #hold(bytes: Buffer): void {
    this.#held.add(bytes);
    this.#heldBytes += bytes.length + linesIn(bytes) * bytesPerLine;
    this.#lastHeld = bytes.at(-1) ?? this.#lastHeld;
  }

  #withoutMark(events: Buffer): Buffer {
    const hasMark = this.#isFirst && events.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    this.#isFirst = false;
    return hasMark ? events.subarray(byteOrderMark.length) : events;
  }
}

const noBytes = Buffer.alloc(0);
const byteOrderMark = Buffer.from('\uFEFF');
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Overhead in bytes of each line of an event, even an empty one: V8 links the parts of a text by objects. */
const bytesPerLine = 32;

function linesIn(bytes: Buffer): number {
  return countOf(lineFeed, bytes) + countOf(carriageReturn, bytes);
}

function countOf(byte: number, bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1;
  return count;
}

/**
 * End of the last empty line, ended by LF, CRLF or CR; -1 if there is none. `before`: the byte before
 * the first.
 */
function lastEventEnd(bytes: Buffer, before: number | undefined): number {
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    if (!endsEmptyLine(at === 0 ? before : bytes[at - 1], bytes[at])) continue;
    const isCrLf = bytes[at] === carriageReturn && bytes[at + 1] === lineFeed;
    return isCrLf ? at + 2 : at + 1;
  }
  return -1;
}

/** True for two bytes that are two line ends, rather than one CRLF. */
function endsEmptyLine(before: number | undefined, byte: number | undefined): boolean {
  if (byte === lineFeed) return before === lineFeed;
  return byte === carriageReturn && (before === lineFeed || before === carriageReturn);
}
