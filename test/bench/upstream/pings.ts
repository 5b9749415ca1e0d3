import { once } from 'node:events';
import type { Socket } from 'node:net';
import { streamBytes } from './bytes.js';
import type { Script } from './scripts.js';

/** Plays a script whose deltas come behind pings. Ends early where the caller leaves. */
export async function playPings(script: Script, pingsMb: number, socket: Socket): Promise<void> {
  const { start, delta, ping, end } = streamBytes(script);
  const piece = Buffer.from(ping.repeat(1000));
  const times = Math.ceil((pingsMb * 1024 * 1024) / piece.length);
  const closed = once(socket, 'close');
  socket.write(start);
  for (let time = 0; time < times && !socket.destroyed; time += 1)
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), closed]);
  const deltas = Array.from({ length: script.deltas }, (_, at) => delta(script.delta(at)));
  socket.write(deltas.join('') + end);
}
