import type { ServerResponse } from 'node:http';
import type { SsePiece } from './sse-piece.js';

/**
 * Writes pieces to a response, each at once and as one buffer. Node writes a chunk as four, and at the next tick, which
 * made an event of a slow stream some 5 % dearer. Once the head is out, chunks go straight to the socket.
 */
export class ChunkedResponse {
  readonly #response: ServerResponse;
  #hasBegun = false;
  #isFramed = false;
  #isDirect = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Sends the pieces as one; false where whoever writes should wait until that has drained. */
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

  /** Calls `listener` when there is room again. */
  onceDrained(listener: () => void): void {
    const { socket } = this.#response;
    const buffer = this.#isDirect && socket?.writable ? socket : this.#response;
    buffer.once('drain', listener);
  }

  /** Sends the last pieces, and the end with them; where there were none before, their length goes in front. */
  end(pieces: readonly SsePiece[]): void {
    this.#response.end(this.#isFramed ? Buffer.concat([chunkOf(pieces), lastChunk]) : joined(pieces));
  }

  /** The head is written for a body in chunks, whose frames are then ours; a client of HTTP/1.0 gets none. */
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

/** The pieces with their length in front; nothing where they are empty, which would end the body. */
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

/** Gives where they end. */
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
