import type { Socket } from 'node:net';

interface LingerLimits {
  /** Time for which incoming bytes are dropped. */
  readonly totalMs: number;
  /** Idle timeout, after which the peer is taken to be finished. */
  readonly silenceMs: number;
}

const defaultLimits: LingerLimits = { totalMs: 5000, silenceMs: 2000 };

/**
 * Lingering close of a connection whose peer may still be sending: closing it with unread data sends a reset,
 * which can discard an answer that the peer has not read yet. Received bytes are dropped unparsed.
 */
export function closeLingering(socket: Socket, { totalMs, silenceMs }: LingerLimits = defaultLimits): void {
  socket.on('error', ignore); // the peer may reset it, and after CONNECT Node has removed its own listener
  if (socket.destroyed) return;
  const destroy = (): void => void socket.destroy();
  const total = setTimeout(destroy, totalMs).unref();
  const silence = setTimeout(destroy, silenceMs).unref();
  socket.once('end', destroy).once('close', () => {
    clearTimeout(total);
    clearTimeout(silence);
  });
  socket.end();
  dropAll(socket, () => void silence.refresh());
}

/** `close` follows an error. */
function ignore(): void {}

/** Takes the bytes from the HTTP parser by replacing its listener, at which it releases the socket. */
function dropAll(socket: Socket, onData: () => void): void {
  const take = (): void => void socket.removeAllListeners('data').on('data', onData);
  if (socket.readableFlowing === true) return take();
  // As long as the parser has the socket, only that starts reading again, when it resumes.
  socket.once('resume', take).resume();
}

/** Makes the end of the current answer, at which Node would destroy the connection, a lingering one. */
export function lingerAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => closeLingering(socket);
}
