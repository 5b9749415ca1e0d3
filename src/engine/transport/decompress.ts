import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Transform } from 'node:stream';
import { interruptedError } from '../../plugin/format/index.js';
import type { BodySink, Backpressure } from './body.js';

/** Reader of a body, and the sink that receives the body's bytes first. */
export interface Decoded<Body extends BodySink> {
  readonly body: Body;
  readonly sink: BodySink;
}

/** True for no encoding, and for one that `decompress` decodes. */
export function isKnownEncoding(encoding: string): boolean {
  return isPlain(encoding) || Object.hasOwn(decoders, encoding);
}

function isPlain(encoding: string): boolean {
  return encoding === '' || encoding === 'identity';
}

/** Opens the reader of a body behind a decoder of its `content-encoding`, which is a known one. */
export function decompress<Body extends BodySink>(
  encoding: string,
  flow: Backpressure,
  read: (flow: Backpressure) => Body,
): Decoded<Body> {
  const open = decoders[encoding];
  if (isPlain(encoding) || !open) {
    const body = read(flow);
    return { body, sink: body };
  }
  const decompressor = new Decompressor(open, flow);
  const body = read(decompressor);
  decompressor.feed(body);
  return { body, sink: decompressor };
}

/** Creates a decoder by the body's first byte. Truncation is detected by the content, not by the encoding. */
type OpenDecoder = (firstByte: number) => Transform;

const cutIsFine = { finishFlush: constants.Z_SYNC_FLUSH };

const decoders: Readonly<Record<string, OpenDecoder | undefined>> = {
  gzip: () => createGunzip(cutIsFine),
  'x-gzip': () => createGunzip(cutIsFine),
  // Said to be zlib; some send it without its header, whose low four bits are 8.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(cutIsFine) : createInflateRaw(cutIsFine)),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/**
 * Decodes each chunk at once and passes it on; pauses the upstream while the reader is full (backpressure).
 */
class Decompressor implements BodySink, Backpressure {
  readonly #open: OpenDecoder;
  readonly #flow: Backpressure;
  #reader: BodySink | undefined;
  #transform: Transform | undefined;
  #error: unknown;

  constructor(open: OpenDecoder, flow: Backpressure) {
    this.#open = open;
    this.#flow = flow;
  }

  feed(reader: BodySink): void {
    this.#reader = reader;
  }

  write(chunk: Buffer): boolean {
    this.#transform ??= this.#start(chunk[0] ?? 0);
    return this.#transform.write(chunk);
  }

  /** Ends the body; the bytes written before are still decoded and delivered first. */
  end(error?: unknown): void {
    this.#error = error;
    if (this.#transform) this.#transform.end();
    else this.#reader?.end(error);
  }

  resume(): void {
    this.#transform?.resume();
  }

  finish(): void {
    this.#transform?.destroy();
    this.#flow.finish();
  }

  abort(): void {
    this.#transform?.destroy();
    this.#flow.abort();
  }

  #start(firstByte: number): Transform {
    const transform = this.#open(firstByte);
    return transform
      .on('data', (chunk: Buffer) => {
        if (this.#reader?.write(chunk) === false) transform.pause();
      })
      .on('drain', () => this.#flow.resume())
      .on('end', () => this.#reader?.end(this.#error))
      .on('error', (error) => {
        this.#flow.abort();
        this.#reader?.end(interruptedError(error));
      });
  }
}
