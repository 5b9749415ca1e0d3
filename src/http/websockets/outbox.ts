import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { TurnSink } from './turn.js';

/** Max bytes that wait to be sent to a caller; the answer pauses above it. */
const maxWaitingBytes = 256 * 1024;

/** Sender of messages on a WebSocket: those of one moment in one write, with backpressure. */
export class Outbox implements TurnSink {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;

  constructor(webSocket: WebSocket, socket: Socket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  send(messages: readonly string[]): boolean {
    this.#socket.cork();
    for (const message of messages) this.#webSocket.send(message, ignore);
    this.#socket.uncork();
    return !this.isFull;
  }

  get isFull(): boolean {
    return this.#socket.writableLength >= maxWaitingBytes;
  }

  onRoom(callback: () => void): void {
    this.#socket.once('drain', callback);
  }

  /** Bytes that have come from or gone to the caller's machine. */
  get movedBytes(): number {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    return bytesRead + bytesWritten - writableLength;
  }
}

/** `close` of the WebSocket follows an error. */
function ignore(): void {}
