import type { AddressInfo, Socket } from 'node:net';
import { burstBytes, jsonBytes, wholeBytes } from './bytes.js';
import { playPings } from './pings.js';
import { plainServer } from './plain-server.js';
import { scripts, type Script } from './scripts.js';
import { Ticker } from './ticker.js';

/** The scripted upstream, in a process of its own: its CPU time is nobody else's. Tells its parent its port. */
const players = new Map(Object.entries(scripts).map(([name, script]) => [name, playerOf(script)]));
const count = jsonBytes({ input_tokens: 10 });

const server = plainServer((path, socket) => {
  const [, name = '', ...rest] = path.split('/');
  if (rest.at(-1)?.startsWith('count_tokens')) socket.write(count);
  else players.get(name)?.(socket);
});

server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.({ port: (server.address() as AddressInfo).port }); // a TCP server's
});

function playerOf(script: Script): (socket: Socket) => void {
  const { pingsMb } = script;
  if (pingsMb) return (socket) => void playPings(script, pingsMb, socket).catch(() => socket.destroy());
  if (script.everyMs) {
    const ticker = new Ticker(script);
    ticker.start();
    return (socket) => ticker.play(socket);
  }
  const bytes = script.isWhole ? wholeBytes(script) : burstBytes(script);
  return (socket) => void socket.write(bytes);
}
