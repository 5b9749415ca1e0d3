import type { Socket } from 'node:net';

/**
 * Drops `100 Continue` in front of an answer: no request asks for it, and undici takes it for a broken
 * connection.
 */
export class ContinueFilter {
  #isArmed = false;
  #held: Buffer[] = [];

  /** Starts filtering for an answer. */
  arm(): void {
    this.#isArmed = true;
  }

  /** Filters the data read from a socket. */
  attach<Connected extends Socket>(socket: Connected): Connected {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null; // a socket without an encoding
    socket.read = (size?: number): Buffer | null => {
      for (let chunk = read(size); chunk !== null; chunk = read(size)) {
        const rest = this.#isArmed ? this.#filter(chunk) : chunk;
        if (rest) return rest;
      }
      return null;
    };
    return socket;
  }

  #filter(chunk: Buffer): Buffer | undefined {
    if (this.#held.length === 0 && chunk.length > statusAt && chunk[statusAt] !== one) {
      this.#isArmed = false;
      return chunk;
    }
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([...this.#held, chunk]);
    this.#held = [];
    const text = bytes.toString('latin1', 0, maxHead);
    const [head = ''] = interim.exec(text) ?? [];
    if (isBegun(text.slice(head.length)) && bytes.length < maxHead) {
      this.#held = [bytes];
      return undefined;
    }
    this.#isArmed = false;
    return bytes.subarray(head.length);
  }
}

/** Place of a status behind `HTTP/1.1 `, and the first digit of an interim one. */
const statusAt = 9;
const one = 0x31;

const maxHead = 16 * 1024;

/** Whole heads of `100 Continue`. */
const interim = /^(?:HTTP\/1\.[01] 100[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)+/;

/** True for a possible beginning of one: empty, a part of its first words, or an incomplete head. */
function isBegun(text: string): boolean {
  return (
    'HTTP/1.1 100'.startsWith(text) || 'HTTP/1.0 100'.startsWith(text) || /^HTTP\/1\.[01] 100/.test(text)
  );
}
