import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { MemorySocket } from '#src/engine/http/connection/memory-socket.js';

describe('memory socket', () => {
  it('carries what one end writes to the other, and its end', async () => {
    const [one, other] = MemorySocket.pair();
    one.end('hello');
    const chunks: Buffer[] = [];
    for await (const chunk of other as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).to.equal('hello');
    expect(other.bytesRead).to.equal(5);
  });

  it('waits for the reader', async () => {
    const [one, other] = MemorySocket.pair();
    const chunk = Buffer.alloc(64 * 1024);
    let written = 0;
    while (written < 100 && one.write(chunk)) written += 1;
    expect(written).to.be.below(100);
    const drained = once(one, 'drain');
    other.resume();
    await drained;
  });

  it('breaks the writes of an end whose other end is gone', async () => {
    const [one, other] = MemorySocket.pair();
    other.destroy();
    const failed = once(one, 'error');
    one.write('hello');
    expect((await failed)[0]).to.include({ code: 'EPIPE' });
  });

  it('resets both ends', async () => {
    const [one, other] = MemorySocket.pair();
    const failed = once(other, 'error');
    one.resetAndDestroy();
    expect((await failed)[0]).to.include({ code: 'ECONNRESET' });
    expect(one.destroyed).to.equal(true);
  });

  it('ends what is pending before it is destroyed', async () => {
    const [one, other] = MemorySocket.pair();
    one.write('last words');
    one.destroySoon();
    const [text] = (await once(other.setEncoding('utf8'), 'data')) as [string];
    expect(text).to.equal('last words');
    if (!one.destroyed) await once(one, 'close');
  });

  it('carries HTTP', async () => {
    const server = createServer((received, response) => received.pipe(response));
    const [near, far] = MemorySocket.pair();
    server.emit('connection', far);
    const sent = request({ createConnection: () => near, method: 'POST', path: '/' });
    sent.end('echo');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const [text] = (await once(response.setEncoding('utf8'), 'data')) as [string];
    expect(text).to.equal('echo');
  });
});
