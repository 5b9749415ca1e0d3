import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { TurnSink } from './turn.js';

/** Max bytes that wait to be sent to a caller; the answer pauses above it. */
const maxWaitingBytes = 256 * 1024;

/** Max bytes of a write, and of a frame: Node shows no progress within one. */
const maxPieceBytes = 64 * 1024;

/** A message, or a fragment of a long one. */
interface Frame {
  readonly data: string | Buffer;
  readonly bytes: number;
  /** False: the next frame continues the message. */
  readonly fin: boolean;
}

/** Sender of messages on a WebSocket: batches a tick's messages into one write, with backpressure. */
export class Outbox implements TurnSink {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  /** Frames that wait until the socket has taken those before them. */
  #frames: Frame[] = [];
  #framesBytes = 0;
  #isAwaitingDrain = false;
  #close: (() => void) | undefined;

  constructor(webSocket: WebSocket, socket: Socket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  send(messages: readonly string[]): boolean {
    for (const message of messages) {
      const bytes = Buffer.byteLength(message);
      if (bytes <= maxPieceBytes) this.#add({ data: message, bytes, fin: true });
      else for (const fragment of fragmentsOf(message)) this.#add(fragment);
    }
    this.#flush();
    return !this.isFull;
  }

  get isClosing(): boolean {
    return this.#close !== undefined;
  }

  /** Closes the WebSocket after the messages. */
  close(code: number, reason: string): void {
    this.#close ??= () => this.#webSocket.close(code, reason);
    this.#flush();
  }

  /** Ends the connection; drops the waiting bytes. */
  cut(): void {
    this.#socket.resetAndDestroy();
  }

  get isFull(): boolean {
    return this.waitingBytes >= maxWaitingBytes;
  }

  onRoom(callback: () => void): void {
    this.#socket.once('drain', () => (this.isFull ? this.onRoom(callback) : callback()));
  }

  /** Bytes that the socket has not taken. */
  get waitingBytes(): number {
    return this.#framesBytes + this.#socket.writableLength;
  }

  get takenBytes(): number {
    const { bytesWritten, writableLength } = this.#socket;
    return bytesWritten - writableLength;
  }

  /** Bytes received from or sent to the caller's machine. */
  get movedBytes(): number {
    return this.#socket.bytesRead + this.takenBytes;
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    this.#framesBytes += frame.bytes;
  }

  #flush(): void {
    while (this.#frames.length > 0 && !this.#isAwaitingDrain) {
      this.#writePiece();
      if (this.#socket.writableNeedDrain) this.#awaitDrain();
    }
    if (this.#frames.length === 0) this.#close?.();
  }

  #writePiece(): void {
    let count = 0;
    let length = 0;
    this.#socket.cork();
    for (const { data, bytes, fin } of this.#frames) {
      this.#webSocket.send(data, { fin, binary: false }, ignore);
      count += 1;
      length += bytes;
      if (length >= maxPieceBytes) break;
    }
    this.#socket.uncork();
    this.#frames = this.#frames.slice(count);
    this.#framesBytes -= length;
  }

  #awaitDrain(): void {
    this.#isAwaitingDrain = true;
    this.#socket.once('drain', () => {
      this.#isAwaitingDrain = false;
      this.#flush();
    });
  }
}

function fragmentsOf(message: string): readonly Frame[] {
  const bytes = Buffer.from(message);
  const frames: Frame[] = [];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = endOfText(bytes, at + maxPieceBytes);
    frames.push({ data: bytes.subarray(at, end), bytes: end - at, fin: end === bytes.length });
  }
  return frames;
}

/** Place at or before `end` that does not split a UTF-8 character. */
function endOfText(bytes: Buffer, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let at = end;
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

/** `close` of the WebSocket follows an error. */
function ignore(): void {}
