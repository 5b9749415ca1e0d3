import { getEventListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Kit, aCall, answer, closing, collect, eventStream, later, rejection } from './upstream-kit.js';

describe('a caller who leaves', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  const reason = new Error('gone');

  it('is let go at once while the connection is made; the call is ended when it stands, unsent', async () => {
    const { promise: asked, resolve: onAsked } = later<Socket>();
    const proxy = await kit.serveSockets((socket) => socket.once('data', () => onAsked(socket)));
    const upstream = await kit.open('http://upstream.invalid', { proxy });
    const controller = new AbortController();
    const generating = rejection(upstream.generate(aCall({ signal: controller.signal })));
    const tunnel = await asked;
    controller.abort(reason);
    expect(await generating).to.equal(reason);
    const sent: Buffer[] = [];
    tunnel.on('data', (bytes) => sent.push(bytes));
    tunnel.write('HTTP/1.1 200 OK\r\n\r\n');
    await closing(tunnel);
    expect(Buffer.concat(sent).toString()).to.equal('');
  });

  it('ends the call that waits for its headers', async () => {
    const { promise: asked, resolve } = later<IncomingMessage>();
    const upstream = await kit.open(await kit.serve((request) => resolve(request)));
    const controller = new AbortController();
    const generating = rejection(upstream.generate(aCall({ signal: controller.signal })));
    const { socket } = await asked;
    const closed = closing(socket);
    controller.abort(reason);
    expect(await generating).to.equal(reason);
    await closed;
  });

  it('ends a token count', async () => {
    const { promise: asked, resolve } = later<IncomingMessage>();
    const upstream = await kit.open(await kit.serve((request) => resolve(request)));
    const controller = new AbortController();
    const counting = rejection(upstream.countTokens(aCall({ signal: controller.signal })));
    const { socket } = await asked;
    const closed = closing(socket);
    controller.abort(reason);
    expect(await counting).to.equal(reason);
    await closed;
  });

  /** A call whose first event has come, and the upstream's end of it. */
  async function streaming(signal?: AbortSignal) {
    const { promise: asked, resolve } = later<IncomingMessage>();
    const url = await kit.serve((request, response) => {
      response.writeHead(200, eventStream).write(answer.start);
      resolve(request);
    });
    const { events } = await (await kit.open(url)).generate(aCall(signal ? { signal } : {}));
    const iterator = events[Symbol.asyncIterator]();
    await iterator.next();
    const { socket } = await asked;
    return { iterator, closed: closing(socket) };
  }

  it('ends the answer by the signal, which the events then throw', async () => {
    const controller = new AbortController();
    const { iterator, closed } = await streaming(controller.signal);
    const next = rejection(iterator.next());
    controller.abort(reason);
    expect(await next).to.equal(reason);
    await closed;
  });

  it('ends the answer by leaving the loop', async () => {
    const { iterator, closed } = await streaming();
    await iterator.return?.();
    await closed;
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('ends the answer though the upstream is held back', async () => {
    const { promise: asked, resolve } = later<IncomingMessage>();
    const piece = answer.delta('x'.repeat(256 * 1024));
    const url = await kit.serve((request, response) => {
      response.writeHead(200, eventStream);
      while (response.write(piece));
      resolve(request);
    });
    const controller = new AbortController();
    const { events } = await (await kit.open(url)).generate(aCall({ signal: controller.signal }));
    const { socket } = await asked;
    const closed = closing(socket);
    controller.abort(reason);
    await closed;
    expect((await collect(events)).error).to.equal(reason);
  });

  it('leaves no listener on the signal behind, whatever came of the call', async () => {
    const url = await kit.serve((request, response) => {
      if (request.url === '/v1/messages?fail') response.writeHead(500).end();
      else response.writeHead(200, eventStream).end(answer.start + answer.stop);
    });
    const upstream = await kit.open(url);
    const controller = new AbortController();
    const { signal } = controller;
    await collect((await upstream.generate(aCall({ signal }))).events);
    await rejection(upstream.generate(aCall({ signal, search: '?fail' })));
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });
});
