import type { Writable } from 'node:stream';
import { isDeeperThan } from '../../../kit/schema/json-values.js';

/** Fault of the other side of a connection, which ends it; its message continues "The child process ". */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}

/**
 * Writes messages as frames: four bytes with the length, then a JSON list. Those of one turn of the event loop share a
 * frame.
 */
export class FrameWriter {
  readonly #output: Pick<Writable, 'write'>;
  #texts: string[] = [];
  #length = 0;

  constructor(output: Pick<Writable, 'write'>) {
    this.#output = output;
  }

  /** Sends a message; returns the length of its text. */
  send(message: unknown): number {
    const text = JSON.stringify(message);
    if (this.#texts.length === 0) setImmediate(this.#flush);
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length > maxGathered) this.#flush();
    return text.length;
  }

  readonly #flush = (): void => {
    if (this.#texts.length === 0) return;
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
