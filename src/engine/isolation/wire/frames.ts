import type { Writable } from 'node:stream';
import { systemClock, type Clock } from '../../../kit/time/clock.js';
import { isDeeperThan } from '../../../kit/schema/json-values.js';

/** Fault of the other side of a connection, which ends it; its message continues "The child process ". */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}

/**
 * Writes messages as frames: four bytes with the length, then a JSON list. Those of one turn of the event loop share a
 * frame; messages that may wait share one with those of the millisecond after the last frame, as a write costs more than
 * a message.
 */
export class FrameWriter {
  readonly #output: Pick<Writable, 'write'>;
  readonly #clock: Clock;
  #texts: string[] = [];
  #length = 0;
  /** Frame that will be sent: in this turn of the event loop, or later. */
  #due: 'soon' | 'later' | undefined;
  #sentMs = -Infinity;

  constructor(output: Pick<Writable, 'write'>, clock: Clock = systemClock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Sends a message; returns the length of its text. `mayWait`: a further millisecond makes no difference to it. */
  send(message: unknown, mayWait = false): number {
    const text = JSON.stringify(message);
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length > maxGathered) this.#flush();
    else this.#schedule(mayWait);
    return text.length;
  }

  #schedule(mayWait: boolean): void {
    if (this.#due === 'soon' || (this.#due && mayWait)) return;
    if (mayWait && this.#clock.monotonicMs() - this.#sentMs < gatherMs) {
      this.#due = 'later';
      this.#clock.setTimer(this.#flush, gatherMs);
    } else {
      this.#due = 'soon';
      setImmediate(this.#flush);
    }
  }

  readonly #flush = (): void => {
    this.#due = undefined;
    if (this.#texts.length === 0) return;
    this.#sentMs = this.#clock.monotonicMs();
    const text = `[${this.#texts.join(',')}]`;
    this.#texts = [];
    this.#length = 0;
    const size = Buffer.byteLength(text);
    const frame = Buffer.allocUnsafe(headerBytes + size);
    frame.writeUInt32BE(size);
    frame.write(text, headerBytes);
    this.#output.write(frame);
  };
}

const headerBytes = 4;

/** Time after a frame in which messages that may wait do. */
const gatherMs = 1;

/** Length of messages from which a frame is sent at once, in characters. */
const maxGathered = 262_144;

/** Reads the frames of a `FrameWriter` from chunks of any size. */
export class FrameReader {
  readonly #maxBytes: () => number;
  readonly #onMessage: (message: unknown) => void;
  #chunks: Buffer[] = [];
  #received = 0;
  /** Bytes that the next part needs: a header, or the body of a frame. */
  #needed = headerBytes;
  #isInFrame = false;

  /** `maxBytes`: max size of a frame, asked at its beginning. */
  constructor(maxBytes: () => number, onMessage: (message: unknown) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** Throws a WireFault for anything but a frame. */
  read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    while (this.#received >= this.#needed) {
      const part = this.#take(this.#needed);
      if (this.#isInFrame) {
        this.#isInFrame = false;
        this.#needed = headerBytes;
        for (const message of messagesOf(part)) this.#onMessage(message);
      } else this.#begin(part.readUInt32BE());
    }
  }

  #begin(size: number): void {
    const max = this.#maxBytes();
    if (size > max) throw new WireFault(`sent ${size} bytes where at most ${max} are accepted`);
    this.#isInFrame = true;
    this.#needed = size;
  }

  #take(size: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const bytes = all ?? Buffer.concat(this.#chunks);
    const rest = bytes.subarray(size);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#received = rest.length;
    return bytes.subarray(0, size);
  }
}

function messagesOf(body: Buffer): readonly unknown[] {
  const text = body.toString();
  const messages = parsed(text);
  if (!Array.isArray(messages)) throw new WireFault('sent something other than a list of messages');
  if (text.length > 2 * maxLevels && isDeeperThan(maxLevels, messages))
    throw new WireFault(`sent a message that is nested more than ${maxLevels} levels deep`);
  return messages;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WireFault('sent something other than JSON', { cause });
  }
}

/** Max nesting of a message: that of a request, and of what holds it. */
const maxLevels = 520;
