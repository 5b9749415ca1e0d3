import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { Kit, aCall, answer, collect, eventStream, later, rejection, turn } from './upstream-kit.js';

const whole = answer.start + answer.stop;

const rawAnswer = [
  'HTTP/1.1 200 OK',
  'content-type: text/event-stream',
  `content-length: ${Buffer.byteLength(whole)}`,
  '',
  whole,
].join('\r\n');

describe('connections to an upstream', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  it('say unreachable where nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    server.close();
    await once(server, 'close');
    const upstream = await kit.open(`http://127.0.0.1:${typeof address === 'object' && address?.port}`);
    const error = await rejection(upstream.generate(aCall()));
    expect(error).to.deep.include({
      code: 'upstream_unreachable',
      status: 502,
      failure: { kind: 'unreachable', reused: false },
      message: 'Slot "team-a" could not reach its upstream (ECONNREFUSED).',
    });
  });

  it('say unreachable where the name is unknown and where TLS fails', async () => {
    const unknown = await kit.open('http://upstream.invalid');
    expect(await rejection(unknown.generate(aCall()))).to.deep.include({
      failure: { kind: 'unreachable', reused: false },
    });
    const plain = await kit.serve((_, response) => response.end());
    const upstream = await kit.open(plain.replace('http:', 'https:'));
    expect(await rejection(upstream.generate(aCall()))).to.deep.include({
      failure: { kind: 'unreachable', reused: false },
    });
  });

  it('say unreachable where the first answer of a connection is its end', async () => {
    let connections = 0;
    const url = await kit.serveSockets((socket) => {
      connections += 1;
      socket.once('data', () => socket.destroy());
    });
    const error = await rejection((await kit.open(url)).generate(aCall()));
    expect(error).to.deep.include({ failure: { kind: 'unreachable', reused: false } });
    expect(connections).to.equal(1);
  });

  it('say timeout where no headers come', async () => {
    const upstream = await kit.open(await kit.serve(() => {}));
    const error = await rejection(upstream.generate(aCall({ headersTimeoutMs: 30 })));
    expect(error).to.deep.include({
      code: 'upstream_timeout',
      status: 504,
      failure: { kind: 'timeout', waitedFor: 'headers', afterMs: 30 },
      message: 'The upstream of slot "team-a" did not begin to answer within 30 ms.',
    });
  });

  it('are told from new ones: a call whose reused connection closes goes out once more on a new one', async () => {
    const requests: number[] = [];
    const url = await kit.serveSockets((socket) => {
      const connection = requests.push(0) - 1;
      socket.on('data', () => {
        requests[connection]! += 1;
        if (requests[connection] === 1) socket.write(rawAnswer);
        else socket.destroy();
      });
    });
    const upstream = await kit.open(url);
    for (let call = 0; call < 3; call += 1) {
      const { error, events } = await collect((await upstream.generate(aCall())).events);
      expect(error).to.equal(undefined);
      expect(events).to.have.length(2);
      await turn();
    }
    expect(requests).to.deep.equal([2, 1, 1]);
  });

  it('give up where the new one closes too', async () => {
    let connections = 0;
    const url = await kit.serveSockets((socket) => {
      connections += 1;
      const isFirst = connections === 1;
      socket.once('data', () => {
        if (!isFirst) socket.destroy();
        else socket.write(rawAnswer, () => socket.once('data', () => socket.destroy()));
      });
    });
    const upstream = await kit.open(url);
    await collect((await upstream.generate(aCall())).events);
    await turn();
    const error = await rejection(upstream.generate(aCall()));
    expect(error).to.deep.include({ failure: { kind: 'unreachable', reused: false } });
    expect(connections).to.equal(2);
  });

  it('carry one call each, as many at once as there are calls', async () => {
    const ports = new Set<number | undefined>();
    const { promise: allThere, resolve } = later();
    const url = await kit.serve(async (request, response) => {
      ports.add(request.socket.remotePort);
      if (ports.size === 5) resolve();
      await allThere;
      response.writeHead(200, eventStream).end(whole);
    });
    const upstream = await kit.open(url, { maxConcurrent: 2 });
    const replies = await Promise.all(Array.from({ length: 5 }, () => upstream.generate(aCall())));
    for (const { events } of replies) expect((await collect(events)).error).to.equal(undefined);
  });

  it('close when the calls that run on them have ended, and take no new ones', async () => {
    const { promise: asked, resolve } = later<() => void>();
    const upstream = await kit.open(
      await kit.serve((_, response) => {
        response.writeHead(200, eventStream).write(answer.start);
        resolve(() => response.end(answer.stop));
      }),
    );
    const { events } = await upstream.generate(aCall());
    const closed = upstream.close();
    (await asked)();
    expect((await collect(events)).error).to.equal(undefined);
    await closed;
    expect(await rejection(upstream.generate(aCall()))).to.deep.include({
      failure: { kind: 'unreachable', reused: false },
    });
  });

  describe('through a proxy', () => {
    it('go by CONNECT, with the user and password of its URL', async () => {
      const proxy = await openProxy(kit);
      const target = await kit.serve((request, response) => {
        expect(request.headers).to.not.have.property('proxy-authorization');
        response.writeHead(200, eventStream).end(whole);
      });
      const upstream = await kit.open(target, { proxy: `http://us%20er:p%40ss@${proxy.url}` });
      expect((await collect((await upstream.generate(aCall())).events)).error).to.equal(undefined);
      const [request] = proxy.asked;
      expect(request?.url).to.equal(target.replace('http://', ''));
      const basic = Buffer.from('us er:p@ss').toString('base64');
      expect(request?.headers['proxy-authorization']).to.equal(`Basic ${basic}`);
      await upstream.close();
    });

    it('send a call once more too, where a reused one closes', async () => {
      const proxy = await openProxy(kit);
      const requests: number[] = [];
      const target = await kit.serveSockets((socket) => {
        const connection = requests.push(0) - 1;
        socket.on('data', () => {
          requests[connection]! += 1;
          if (requests[connection] === 1) socket.write(rawAnswer);
          else socket.destroy();
        });
      });
      const upstream = await kit.open(target, { proxy: `http://${proxy.url}` });
      for (let call = 0; call < 2; call += 1) {
        expect((await collect((await upstream.generate(aCall())).events)).error).to.equal(undefined);
        await turn();
      }
      expect(requests).to.deep.equal([2, 1]);
      await upstream.close();
    });

    it('say unreachable where it refuses, once', async () => {
      let connections = 0;
      const proxy = await kit.serveSockets((socket) => {
        connections += 1;
        socket.once('data', () =>
          socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'),
        );
      });
      const upstream = await kit.open('http://upstream.invalid', { proxy });
      expect(await rejection(upstream.generate(aCall()))).to.deep.include({
        failure: { kind: 'unreachable', reused: false },
      });
      expect(connections).to.equal(1);
    });

    it('say unreachable where it hangs up, once', async () => {
      let connections = 0;
      const proxy = await kit.serveSockets((socket) => {
        connections += 1;
        socket.once('data', () => socket.destroy());
      });
      const upstream = await kit.open('http://upstream.invalid', { proxy });
      expect(await rejection(upstream.generate(aCall()))).to.deep.include({
        failure: { kind: 'unreachable', reused: false },
      });
      expect(connections).to.equal(1);
    });

    it('say unreachable where it never answers', async () => {
      const proxy = await kit.serveSockets(() => {});
      const upstream = await kit.open('http://upstream.invalid', { proxy, connectTimeoutMs: 30 });
      expect(await rejection(upstream.generate(aCall()))).to.deep.include({
        code: 'upstream_unreachable',
        failure: { kind: 'unreachable', reused: false },
      });
    });
  });
});

/** A proxy that tunnels; tells what it was asked. */
async function openProxy(kit: Kit): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const proxy = createServer().listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(request);
    const [host, port] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.pipe(socket).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  kit.onClose(() => proxy.close());
  const address = proxy.address();
  return { url: `127.0.0.1:${typeof address === 'object' && address?.port}`, asked };
}
