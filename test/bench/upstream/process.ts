import type { AddressInfo, Socket } from 'node:net';
import { burstBytes, chatStreamBytes, jsonBytes, streamBytes, wholeBytes } from './bytes.js';
import { playPings } from './pings.js';
import { plainServer } from './plain-server.js';
import { scripts, type Script } from './scripts.js';
import { Ticker } from './ticker.js';

/** The scripted upstream, which is a remote stage as well, in a process of its own: its CPU time is nobody else's. Tells its parent its port. */
const players = playersOf(streamBytes);
const chatPlayers = playersOf(chatStreamBytes);
const count = jsonBytes({ input_tokens: 10 });
const allow = jsonBytes({ version: 1, verdict: 'allow' });

const server = plainServer((path, socket) => {
  const [, name = '', ...rest] = path.split('/');
  if (name === 'allow') socket.write(allow);
  else if (rest.at(-1)?.startsWith('count_tokens')) socket.write(count);
  else (rest.at(-1) === 'completions' ? chatPlayers : players).get(name)?.(socket);
});

server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.({ port: (server.address() as AddressInfo).port }); // a TCP server's
});

type Player = (socket: Socket) => void;

/** Players of all scripts in a protocol; whole answers are those of Messages. */
function playersOf(protocol: typeof streamBytes): ReadonlyMap<string, Player> {
  return new Map(Object.entries(scripts).map(([name, script]) => [name, playerOf(script, protocol)]));
}

function playerOf(script: Script, protocol: typeof streamBytes): Player {
  const { pingsMb } = script;
  if (pingsMb) return (socket) => void playPings(script, pingsMb, socket).catch(() => socket.destroy());
  if (script.everyMs) {
    const ticker = new Ticker(script, protocol);
    ticker.start();
    return (socket) => ticker.play(socket);
  }
  const bytes = script.isWhole ? wholeBytes(script) : burstBytes(script, protocol);
  return (socket) => void socket.write(bytes);
}
