import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { ChunkedResponse } from '#src/plugin/http/chunked-response.js';

describe('a response in chunks', () => {
  let server: Server;
  let socket: Socket;
  let sent: string;
  let responses: ServerResponse[];

  beforeEach(async () => {
    responses = [];
    sent = '';
    server = createServer((_, response) => {
      response.sendDate = false;
      responses.push(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('data', (bytes: Buffer) => (sent += bytes.toString()));
  });
  afterEach(() => {
    socket.destroy();
    server.close();
  });

  /** The response to a request that is sent now. */
  async function requested(version = '1.1'): Promise<ServerResponse> {
    const request = once(server, 'request');
    socket.write(`GET / HTTP/${version}\r\nhost: x\r\n\r\n`);
    await request;
    return responses.at(-1)!;
  }

  /** What has come once this is the end of it. */
  async function receivedUpTo(end: string): Promise<string> {
    while (!sent.endsWith(end)) await once(socket, 'data');
    const received = sent;
    sent = '';
    return received;
  }

  it('has each write as one chunk, of text and of bytes, and leaves the connection for the next request', async () => {
    for (let request = 0; request < 2; request += 1) {
      const response = new ChunkedResponse(await requested());
      response.write(['ä', Buffer.from('ö'), 'u']);
      const [head, chunk] = (await receivedUpTo('u\r\n')).split('\r\n\r\n');
      expect(head)
        .to.match(/^HTTP\/1.1 200 OK\r\n/)
        .and.match(/\r\ntransfer-encoding: chunked/i);
      expect(chunk).to.equal('5\r\näöu\r\n');
      response.write([Buffer.from('more')]);
      expect(await receivedUpTo('more\r\n')).to.equal('4\r\nmore\r\n');
      response.end(['the ', 'end']);
      expect(await receivedUpTo('\r\n\r\n')).to.equal('7\r\nthe end\r\n0\r\n\r\n');
    }
  });

  it('does not end with a write of nothing, and may end with nothing', async () => {
    const response = new ChunkedResponse(await requested());
    response.write(['a']);
    await receivedUpTo('a\r\n');
    response.write(['']);
    response.write(['b']);
    response.end([]);
    expect(await receivedUpTo('\r\n\r\n')).to.equal('1\r\nb\r\n0\r\n\r\n');
  });

  it('has a length where all of it is the end', async () => {
    new ChunkedResponse(await requested()).end(['ä', Buffer.from('b')]);
    const [head, body] = (await receivedUpTo('b')).split('\r\n\r\n');
    expect(head).to.match(/\r\ncontent-length: 3/i);
    expect(body).to.equal('äb');
  });

  it('has no frames for a client of HTTP/1.0', async () => {
    const response = new ChunkedResponse(await requested('1.0'));
    response.write(['one ']);
    response.end(['two']);
    await once(socket, 'end');
    expect(sent).to.match(/\r\n\r\none two$/);
    expect(sent).not.to.match(/transfer-encoding/i);
  });

  it('says when the client takes no more, and when it does again', async () => {
    socket.pause();
    const chunked = new ChunkedResponse(await requested());
    let writes = 0;
    for (; writes < 10_000 && chunked.write(['x'.repeat(10_000)]); writes += 1);
    expect(writes).to.be.lessThan(10_000);
    const drained = new Promise<void>((resolve) => chunked.onceDrained(resolve));
    socket.resume();
    await drained;
    chunked.end([]);
    while (!sent.endsWith('0\r\n\r\n')) await once(socket, 'data');
    expect(sent.length).to.be.greaterThan((writes + 1) * 10_000);
  });
});
