import { createServer, type Server, type Socket } from 'node:net';

/** Answers one request by writing whole HTTP bytes to the socket, now or later. */
export type Respond = (path: string, socket: Socket) => void;

/**
 * The least of HTTP/1.1 that a bench needs: kept-alive connections, one request at a time on each, bodies of a
 * known length or in chunks. `node:http` would cost several times what the answers do, on the same cores.
 */
export function plainServer(respond: Respond): Server {
  return createServer({ noDelay: true }, (socket) => {
    const reader = new RequestReader((path) => respond(path, socket));
    socket.on('data', (chunk: Buffer) => reader.take(chunk));
    socket.on('error', () => socket.destroy()); // who measures has left
  });
}

const headEnd = '\r\n\r\n';
const lastChunk = '0\r\n\r\n';

/** Finds where each request ends, and says its path then. */
export class RequestReader {
  readonly #onRequest: (path: string) => void;
  /** The head so far, until it is whole. */
  #head: Buffer | undefined;
  #path = '';
  /** Bytes of the body to come; undefined where it comes in chunks. */
  #left: number | undefined = 0;
  /** The last bytes of a body in chunks. */
  #tail = '';

  constructor(onRequest: (path: string) => void) {
    this.#onRequest = onRequest;
  }

  take(chunk: Buffer): void {
    if (this.#path) return this.#takeBody(chunk);
    const head = this.#head ? Buffer.concat([this.#head, chunk]) : chunk;
    const end = head.indexOf(headEnd);
    this.#head = end < 0 ? head : undefined;
    if (end < 0) return;
    const text = head.toString('latin1', 0, end);
    this.#path = text.split(' ', 2)[1] ?? '';
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(text);
    this.#left = isChunked ? undefined : Number(length ?? 0);
    this.#takeBody(head.subarray(end + headEnd.length));
  }

  #takeBody(chunk: Buffer): void {
    if (this.#left === undefined) {
      this.#tail = (this.#tail + chunk.subarray(-lastChunk.length).toString('latin1')).slice(
        -lastChunk.length,
      );
      if (this.#tail === lastChunk) this.#finish();
    } else {
      this.#left -= chunk.length;
      if (this.#left <= 0) this.#finish();
    }
  }

  #finish(): void {
    const path = this.#path;
    this.#path = '';
    this.#tail = '';
    this.#onRequest(path);
  }
}
