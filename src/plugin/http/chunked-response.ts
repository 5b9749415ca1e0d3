import type { ServerResponse } from 'node:http';
import type { SsePiece } from './sse-piece.js';

/**
 * Writes pieces to a response, at once and as one buffer (Node writes a chunk as four buffers, at the next
 * tick). Once the head is out, chunks go straight to the socket.
 */
export class ChunkedResponse {
  readonly #response: ServerResponse;
  #hasBegun = false;
  #isFramed = false;
  #isDirect = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /**
   * Sends the pieces as one write. Returns false if the writer should wait for `onceDrained` (backpressure).
   */
  write(pieces: readonly SsePiece[]): boolean {
    const { socket } = this.#response;
    if (this.#isDirect && socket?.writable) return socket.write(chunkOf(pieces));
    this.#begin();
    socket?.cork(); // else the response corks it itself, until the next tick
    const hasRoom = this.#response.write(this.#isFramed ? chunkOf(pieces) : joined(pieces));
    socket?.uncork();
    this.#isDirect = this.#isFramed && socket !== null;
    return hasRoom;
  }

  /** Calls `listener` once the buffer has drained. */
  onceDrained(listener: () => void): void {
    const { socket } = this.#response;
    const buffer = this.#isDirect && socket?.writable ? socket : this.#response;
    buffer.once('drain', listener);
  }

  /** Sends the last pieces and ends the body; if nothing was written before, with a `content-length`. */
  end(pieces: readonly SsePiece[]): void {
    this.#response.end(this.#isFramed ? Buffer.concat([chunkOf(pieces), lastChunk]) : joined(pieces));
  }

  /** Writes the head, then takes over chunked framing from Node; a client of HTTP/1.0 gets no chunks. */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const response = this.#response;
    if (!response.headersSent) response.writeHead(response.statusCode);
    this.#isFramed = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }
}

const lastChunk = Buffer.from('0\r\n\r\n');

/** Frames the pieces as one chunk; empty ones give no bytes, since an empty chunk would end the body. */
function chunkOf(pieces: readonly SsePiece[]): Buffer {
  const length = lengthOf(pieces);
  if (length === 0) return Buffer.alloc(0);
  const head = `${length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(head.length + length + 2);
  chunk.write(head, 'latin1');
  chunk.write('\r\n', copyTo(chunk, pieces, head.length), 'latin1');
  return chunk;
}

function joined(pieces: readonly SsePiece[]): SsePiece {
  const first = pieces[0];
  if (pieces.length < 2) return first ?? '';
  const bytes = Buffer.allocUnsafe(lengthOf(pieces));
  copyTo(bytes, pieces, 0);
  return bytes;
}

function lengthOf(pieces: readonly SsePiece[]): number {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  return length;
}

/** Returns the offset after the last piece. */
function copyTo(bytes: Buffer, pieces: readonly SsePiece[], from: number): number {
  let at = from;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += bytes.write(piece, at);
    else {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return at;
}
