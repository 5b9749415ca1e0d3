import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';

describe('the connections of a gateway', () => {
  let pair: Pair;
  let socket: Socket;
  let received: string;

  beforeEach(async () => {
    pair = await startPair({ listen: { host: '127.0.0.1', port: 0, shutdownTimeout: '200ms' } });
    socket = connect(Number(new URL(pair.url).port), '127.0.0.1');
    received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    await once(socket, 'connect');
  });
  afterEach(async () => {
    socket.destroy();
    await pair.close();
  });

  /** Resolves once what has come holds `text`. */
  async function heard(text: string): Promise<void> {
    while (!received.includes(text)) await once(socket, 'data');
  }

  it('answer pipelined requests in their order', async () => {
    socket.write(post(ask('one')) + post(ask('two', { model: 'haiku-5' })) + get('/health'));
    await heard('"uptime_seconds"');
    expect(received.match(/HTTP\/1\.1 200/g)).to.have.length(3);
    expect(received.indexOf('"sonnet-5"')).to.be.lessThan(received.indexOf('"haiku-5"'));
  });

  for (const request of ['GET / HTTP/1.0', 'GET /health?ready=1 HTTP/1.1\r\nhost: [', 'HEAD / HTTP/1.0']) {
    it(`answer ${JSON.stringify(request)}, whatever its host header`, async () => {
      socket.write(`${request}\r\n\r\n`);
      await heard('\r\n\r\n');
      expect(received).to.match(/^HTTP\/1\.1 200 /);
    });
  }

  for (const second of ['host: other', 'HOST: gateway'])
    it(`refuse a second host header (${second})`, async () => {
      socket.write(`${head('GET /health')}${second}\r\n\r\n`);
      await heard('"error"');
      expect(received).to.match(/^HTTP\/1\.1 400 /);
      expect(received).to.include('A request must have one host header.');
    });

  it('hold nothing of a pipelined request once they are closed', async () => {
    socket.write(post(ask('[[sim:stall after=5]]', { stream: true })) + post(ask('two')) + get('/health'));
    await heard('message_start');
    socket.destroy();
    await pair.gateway.exchanges.idle();
    expect(pair.gateway.services.slots.list()[0]).to.include({ inFlight: 0, queued: 0 });
  });

  it('do not keep the gateway from closing with half a request on them', async () => {
    socket.write(`${get('/health')}POST /v1/mess`);
    await heard('"uptime_seconds"');
    await Promise.all([pair.gateway.close(), once(socket, 'close')]);
  });
});

function post(body: object): string {
  const text = JSON.stringify(body);
  return `${head('POST /v1/messages')}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

function get(path: string): string {
  return `${head(`GET ${path}`)}\r\n`;
}

function head(line: string): string {
  return `${line} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${masterKey}\r\n`;
}
