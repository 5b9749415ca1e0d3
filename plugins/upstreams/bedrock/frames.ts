import { crc32 } from 'node:zlib';
import { GatewayError } from '@gw2api/gateway/plugin';
import { CollectedBytes } from '@gw2api/gateway/plugin/raw';

/** Message of an AWS event stream: its headers that are texts, and its payload. */
export interface Frame {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Max size of a frame. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** Total length, length of the headers, and the CRC-32 of both. */
const preludeBytes = 12;
const checksumBytes = 4;

/**
 * Decoder of the frames of an AWS event stream; any split of the bytes gives the same frames. A frame is
 * its prelude, headers, payload, and the CRC-32 of all that.
 */
export class FrameDecoder {
  readonly #held = new CollectedBytes();
  /** Bytes up to the end of the frame that is not complete yet, or of its prelude. */
  #wantedBytes = preludeBytes;
  /** Headers of the last frame, as bytes and as read. */
  #fields: Buffer = Buffer.alloc(0);
  #headers: Frame['headers'] | undefined;

  /** Frames that these bytes complete. Throws `upstream_invalid_response` for bytes that are not frames. */
  decode(bytes: Buffer): readonly Frame[] {
    this.#held.add(bytes);
    if (this.#held.length < this.#wantedBytes) return [];
    const all = this.#held.take();
    const frames: Frame[] = [];
    let at = 0;
    this.#wantedBytes = preludeBytes;
    while (all.length - at >= preludeBytes) {
      this.#wantedBytes = frameLength(all, at);
      if (all.length - at < this.#wantedBytes) break;
      frames.push(this.#read(all.subarray(at, at + this.#wantedBytes)));
      at += this.#wantedBytes;
      this.#wantedBytes = preludeBytes;
    }
    if (at < all.length) this.#held.add(all.subarray(at));
    return frames;
  }

  #read(frame: Buffer): Frame {
    const end = frame.length - checksumBytes;
    if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw broken('a checksum is wrong');
    const payloadAt = preludeBytes + frame.readUInt32BE(4);
    return {
      headers: this.#headersOf(frame.subarray(preludeBytes, payloadAt)),
      payload: frame.subarray(payloadAt, end),
    };
  }

  /** Headers; nearly all frames of an answer have the same ones. */
  #headersOf(fields: Buffer): Frame['headers'] {
    if (!this.#headers || !this.#fields.equals(fields)) {
      this.#headers = readHeaders(fields);
      this.#fields = Buffer.from(fields); // a copy, which does not keep the bytes of a read
    }
    return this.#headers;
  }
}

/** Bytes of one frame; each header is a text. */
export function encodeFrame({ headers, payload }: Frame): Buffer {
  const fields = Buffer.concat(Object.entries(headers).map(([name, text]) => encodeHeader(name, text)));
  const length = preludeBytes + fields.length + payload.length + checksumBytes;
  const frame = Buffer.alloc(length);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(fields.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  fields.copy(frame, preludeBytes);
  payload.copy(frame, preludeBytes + fields.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, length - checksumBytes)), length - checksumBytes);
  return frame;
}

function encodeHeader(name: string, text: string): Buffer {
  const [key, value] = [Buffer.from(name), Buffer.from(text)];
  const lengths = Buffer.from([textType, value.length >> 8, value.length & 0xff]);
  return Buffer.concat([Buffer.from([key.length]), key, lengths, value]);
}

/** Length of the frame at an offset, by its prelude. */
function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  const headersLength = bytes.readUInt32BE(at + 4);
  if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8))
    throw broken('the checksum of a prelude is wrong');
  if (length > maxFrameBytes) throw broken(`one is larger than ${maxFrameBytes / 1024 / 1024} MB`);
  if (length < preludeBytes + headersLength + checksumBytes) throw broken('one is shorter than its headers');
  return length;
}

/** Headers that are texts; skips other types. */
function readHeaders(bytes: Buffer): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const typeAt = at + 1 + byteAt(bytes, at);
    const type = byteAt(bytes, typeAt);
    const isText = type === textType;
    const isSized = isText || type === bytesType;
    const valueAt = typeAt + (isSized ? 3 : 1);
    const length = isSized
      ? byteAt(bytes, typeAt + 1) * 256 + byteAt(bytes, typeAt + 2)
      : (fixedLengths[type] ?? Infinity);
    if (valueAt + length > bytes.length) throw broken('a header is cut off');
    if (isText)
      headers[bytes.toString('utf8', at + 1, typeAt)] = bytes.toString('utf8', valueAt, valueAt + length);
    at = valueAt + length;
  }
  return headers;
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw broken('a header is cut off');
  return byte;
}

const bytesType = 6;
const textType = 7;

/** Lengths of header values by their type: true, false, byte, short, integer, long; timestamp, UUID. */
const fixedLengths: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

function broken(why: string): GatewayError {
  return new GatewayError('upstream_invalid_response', `The upstream sent broken frames: ${why}.`, {
    failure: { kind: 'foreign' },
  });
}
