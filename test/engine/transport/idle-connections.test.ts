import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../eventually.js';
import { openEgress } from '#src/engine/transport/connections.js';
import { aCall, collect, Kit, later } from './upstream-kit.js';

describe('idle connections to an upstream', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  it('are closed after their time, however long the server would keep them', async () => {
    const closed = later();
    const url = await kit.serveSockets((socket: Socket) => {
      socket.once('close', () => closed.resolve());
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 2\r\n\r\nHi'),
      );
    });
    const egress = openEgress({ origin: url, connectTimeoutMs: 5000, idleMs: 50 });
    const answered = later();
    const onConnection = () => undefined;
    const handler = {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => answered.resolve(),
      onResponseError: () => undefined,
    };
    egress.dispatch({ path: '/', method: 'GET', onConnection }, handler);
    await answered.promise;
    await closed.promise;
    await egress.close();
  });

  it('are probed after 10 s of silence', async function () {
    if (platform() !== 'linux') return this.skip(); // the kernel's own list of timers
    let ports = { local: 0, remote: 0 };
    const url = await kit.serveSockets((socket: Socket) => {
      ports = { local: socket.remotePort ?? 0, remote: socket.localPort ?? 0 };
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'));
    });
    const leaving = new AbortController();
    const { events } = await (await kit.open(url)).generate(aCall({ signal: leaving.signal }));
    let probe: number | undefined;
    await eventually(async () => (probe = await probeOf(ports)) !== undefined); // after the timer of an acknowledgement
    leaving.abort();
    await collect(events);
    expect(probe).to.be.above(0).and.at.most(10);
  });
});

/**
 * Seconds until the kernel probes a connection; undefined without such a timer. Both ports are needed: connections to
 * several servers may share a local one.
 */
async function probeOf({ local, remote }: Ports): Promise<number | undefined> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const timer = lines.find(([, from = '', to = '']) => endsWith(from, local) && endsWith(to, remote))?.[5];
  const [, kind, jiffies = ''] = /^(\w\w):(\w+)$/.exec(timer ?? '') ?? [];
  return kind === '02' ? Number.parseInt(jiffies, 16) / 100 : undefined; // USER_HZ
}

interface Ports {
  readonly local: number;
  readonly remote: number;
}

/** True for an address of this port, as the kernel writes it: `0100007F:1F90`. */
function endsWith(address: string, port: number): boolean {
  return address.endsWith(`:${port.toString(16).toUpperCase().padStart(4, '0')}`);
}
