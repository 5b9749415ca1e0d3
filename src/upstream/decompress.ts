import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Transform } from 'node:stream';
import { interruptedError } from '../plugin/index.js';
import type { BodySink, Backpressure } from './body.js';

/** A body's reader, and where the bytes of that body go first. */
export interface Decoded<Body extends BodySink> {
  readonly body: Body;
  readonly sink: BodySink;
}

/** Opens the reader of a body behind what undoes its `content-encoding`; undefined where we cannot undo it. */
export function decompress<Body extends BodySink>(
  encoding: string,
  flow: Backpressure,
  read: (flow: Backpressure) => Body,
): Decoded<Body> | undefined {
  if (encoding === '' || encoding === 'identity') {
    const body = read(flow);
    return { body, sink: body };
  }
  const open = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (!open) return undefined;
  const decompressor = new Decompressor(open, flow);
  const body = read(decompressor);
  decompressor.feed(body);
  return { body, sink: decompressor };
}

/** A decoder for a body that begins with this byte. A body that is cut is told by what it says, not by its encoding. */
type OpenDecoder = (firstByte: number) => Transform;

const cutIsFine = { finishFlush: constants.Z_SYNC_FLUSH };

const decoders: Readonly<Record<string, OpenDecoder | undefined>> = {
  gzip: () => createGunzip(cutIsFine),
  'x-gzip': () => createGunzip(cutIsFine),
  // Said to be zlib; some send it without its header, whose low four bits are 8.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(cutIsFine) : createInflateRaw(cutIsFine)),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/** Passes on what each piece of a body decodes to, at once; stops the upstream where the reader has enough. */
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

  /** What was written before is still decoded and read first. */
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
