import { channel } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { releaseStartMemory } from '#src/cli/serve/start-memory.js';

describe('the memory of the start', () => {
  const requests = channel('http.server.request.start');
  const isWatching = () => requests.hasSubscribers;
  let flags: EventEmitter;
  let end: () => void = () => undefined;

  afterEach(() => end());

  function release(options: Parameters<typeof releaseStartMemory>[0]): void {
    flags = new EventEmitter();
    end = releaseStartMemory({ ...options, setFlags: (text) => flags.emit('set', text) });
  }

  it('is given back for a while when no request comes, once', async () => {
    release({ idleMs: 5, windowMs: 5 });
    expect(await once(flags, 'set')).to.deep.equal(['--optimize-for-size']);
    expect(await once(flags, 'set')).to.deep.equal(['--no-optimize-for-size']);
    expect(isWatching()).to.equal(false);
  });

  it('is left alone as soon as a request comes', async () => {
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    release({ idleMs: 5, windowMs: 60_000 });
    await once(flags, 'set');
    const off = once(flags, 'set');
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(await off).to.deep.equal(['--no-optimize-for-size']);
    server.close();
  });

  it('is left alone where the process is never idle', () => {
    release({ idleMs: 60_000 });
    const set: string[] = [];
    flags.on('set', (text: string) => set.push(text));
    requests.publish({});
    end();
    expect(set).to.deep.equal([]);
    expect(isWatching()).to.equal(false);
  });
});
