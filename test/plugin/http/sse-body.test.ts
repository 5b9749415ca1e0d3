import { EventEmitter, once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { EventStream, sseBody } from '#src/plugin/index.js';
import type { DirectBody } from '#src/kit/direct-body.js';
import { sendTo, StreamController } from '#src/plugin/raw/index.js';

describe('a body of events that writes itself to a response', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** The answer to one request whose response gets this text; and that response. */
  async function serve(text: AsyncIterable<string>, keepAliveMs = 60_000) {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const responses: ServerResponse[] = [];
    const server = createServer((_, response) => {
      responses.push(response);
      const body = sseBody(text, { keepAlive: ': hm\n\n', keepAliveMs, onFailure });
      (body as unknown as DirectBody)[sendTo](response); // what the core does where a body has it
    }).listen(0, '127.0.0.1');
    servers.push({ close: () => (server.close(), server.closeAllConnections()) });
    await once(server, 'listening');
    const sent = sendRequest({ port: (server.address() as AddressInfo).port, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).setEncoding('utf8');
    servers.push({ close: () => void answer.destroy() }); // one that is not read to its end would keep the process
    return { answer, response: responses[0]!, failures };
  }

  /** A raw connection to a server of this text. */
  async function received(text: AsyncIterable<string>, version: string) {
    const server = createServer((_, response) => {
      const body = sseBody(text, { keepAlive: '', keepAliveMs: 60_000, onFailure: () => undefined });
      (body as unknown as DirectBody)[sendTo](response); // as above
    }).listen(0, '127.0.0.1');
    servers.push({ close: () => (server.close(), server.closeAllConnections()) });
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    servers.push({ close: () => void socket.destroy() });
    socket.write(`GET / HTTP/${version}\r\nhost: x\r\n\r\n`);
    let sent = '';
    socket.on('data', (bytes: Buffer) => (sent += bytes.toString()));
    const upTo = async (end: string): Promise<string> => {
      while (!sent.endsWith(end)) await once(socket, 'data');
      const all = sent;
      sent = '';
      return all;
    };
    return { upTo };
  }

  it('sends what is all there as one piece of known length', async () => {
    const { answer } = await serve(pieces('a', '', 'bö'));
    expect(answer.headers).to.include({ 'content-length': '4' });
    expect(await rest(answer)).to.equal('abö');
  });

  it('sends what is there without waiting for what is not, and the end with the last piece', async () => {
    const upstream = new EventEmitter();
    const { answer } = await serve(
      (async function* () {
        yield 'a';
        await once(upstream, 'go');
        yield 'b';
      })(),
    );
    expect(await once(answer, 'data')).to.deep.equal(['a']);
    upstream.emit('go');
    expect(await rest(answer)).to.equal('b');
  });

  it('ends as usual where the text breaks off, and tells whoever made it', async () => {
    const fault = new Error('It broke.');
    const { answer, failures } = await serve(pieces('a', 'error\n', fault));
    expect(await rest(answer)).to.equal('aerror\n');
    expect(failures).to.deep.equal([fault]);
  });

  it('tells it too where a stage reads the body, though all of the text is there at once', async () => {
    const fault = new Error('It broke.');
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const text = new StreamController<string>({ resume() {}, cancel() {} });
    text.write('error\n');
    text.fail(fault);
    const body = sseBody(new EventStream(text), { keepAlive: '', keepAliveMs: 60_000, onFailure });
    expect(await body.pipe(new PassThrough({ encoding: 'utf8' })).toArray()).to.deep.equal(['error\n']);
    expect(failures).to.deep.equal([fault]);
  });

  it('fills silences, also before the first piece', async () => {
    const { answer } = await serve(
      (async function* (): AsyncGenerator<string> {
        yield await new Promise<never>(() => undefined);
      })(),
      5,
    );
    expect(await once(answer, 'data')).to.deep.equal([': hm\n\n']);
    expect(await once(answer, 'data')).to.deep.equal([': hm\n\n']);
  });

  it('fills no silence while the client takes nothing', async () => {
    let sent = 0;
    let full: () => boolean = () => false;
    const text = (async function* () {
      for (;;) {
        if (!full()) yield 'x'.repeat(10_000);
        sent += full() ? 0 : 1;
        await new Promise(setImmediate);
      }
    })();
    const { answer, response } = await serve(text, 5);
    full = () => response.writableNeedDrain;
    await once(answer, 'readable');
    await stalled(() => sent);
    const held = response.writableLength;
    expect(held).to.be.above(0);
    await new Promise((resolve) => setTimeout(resolve, 50)); // ten silences
    expect(response.writableLength).to.equal(held);
  });

  it('is not asked for more than the client takes, and goes on when it takes again', async () => {
    let pulled = 0;
    const length = 10_000;
    const { answer } = await serve(
      (async function* () {
        for (pulled = 1; pulled <= 2000; pulled += 1) yield 'x'.repeat(length);
      })(),
    );
    await once(answer, 'readable');
    await stalled(() => pulled);
    expect(pulled).to.be.lessThan(1500);
    expect(await rest(answer)).to.have.length(2000 * length);
  });

  it('holds no more than a little of what the client does not take', async () => {
    const { answer, response } = await serve(endless());
    await once(answer, 'readable');
    await stalled(() => response.writableLength);
    expect(response.writableLength).to.be.lessThan(256 * 1024);
  });

  it('sends the pieces of a tick as one chunk, each time at once', async () => {
    const upstream = new EventEmitter();
    const text = (async function* () {
      yield 'a';
      yield 'ö';
      await once(upstream, 'go');
      yield 'c';
    })();
    const socket = await received(text, '1.1');
    expect(await socket.upTo('ö\r\n')).to.match(/\r\ntransfer-encoding: chunked\r\n[^]*\r\n3\r\naö\r\n$/i);
    upstream.emit('go');
    expect(await socket.upTo('\r\n\r\n')).to.equal('1\r\nc\r\n0\r\n\r\n');
  });

  it('sends no chunks to a client of HTTP/1.0', async () => {
    const upstream = new EventEmitter();
    const text = (async function* () {
      yield 'one ';
      await once(upstream, 'go');
      yield 'two';
    })();
    const socket = await received(text, '1.0');
    expect(await socket.upTo('one ')).to.not.match(/transfer-encoding/i);
    upstream.emit('go');
    expect(await socket.upTo('two')).to.equal('two');
  });

  it('ends the text when the client leaves', async () => {
    const ended = new EventEmitter();
    const { answer, failures } = await serve(endless(() => ended.emit('end')));
    const given = once(ended, 'end');
    answer.destroy();
    await given;
    expect(failures).to.deep.equal([]);
  });
});

async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const piece of all) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

async function* endless(end: () => void = () => undefined): AsyncGenerator<string> {
  try {
    for (;;) {
      yield 'x'.repeat(10_000);
      await new Promise(setImmediate);
    }
  } finally {
    end();
  }
}

async function rest(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of answer) text += String(piece);
  return text;
}

/** Resolves once a number has stayed the same for many turns of the event loop. */
async function stalled(number: () => number): Promise<void> {
  for (let last = -1, same = 0; same < 200; same = number() === last ? same + 1 : 0) {
    last = number();
    await new Promise(setImmediate);
  }
}
