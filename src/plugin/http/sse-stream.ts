import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { sendTo, type DirectBody } from '../../kit/direct-body.js';

/** Source of a stream, which pushes data on request. */
interface StreamSource extends DirectBody {
  /** Requests the next piece. */
  read(): void;
  /** Called when the stream is destroyed. */
  cancel(error: Error | null): void;
}

/** Readable stream for stages that read or wrap a body; `sendTo` bypasses its slower machinery if none does. */
export class SseStream extends Readable implements DirectBody {
  readonly #source: StreamSource;

  constructor(source: StreamSource) {
    // Object mode, so that each piece of text reaches the socket as one write.
    super({ objectMode: true, highWaterMark: 1 });
    this.#source = source;
  }

  [sendTo](response: ServerResponse): void {
    response.once('close', () => this.destroy());
    this.#source[sendTo](response);
  }

  override _read(): void {
    this.#source.read();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.cancel(error);
    done(error);
  }
}
