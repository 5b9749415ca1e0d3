import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';

describe('the client of a stage', () => {
  const signal = new AbortController().signal;
  let server: Server;
  let origin = '';

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => response.end(JSON.stringify([request.method, request.url, body])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  it('sends a request, and is closed with the pipeline', async () => {
    const host = fakeHost();
    const client = await host.connect(`${origin}/base`);
    const answer = await client.send({ path: `${client.basePath}/check`, body: '{}' }, { signal });
    expect(JSON.parse(await answer.text())).to.deep.equal(['POST', '/base/check', '{}']);
    await host.dispose();
    const late = await client.send({ path: '/' }, { signal }).catch(String);
    expect(late).to.match(/closed|could not be reached/);
  });

  it('has at most the connections that it was given', async () => {
    const host = fakeHost();
    const connected = { count: 0 };
    server.on('connection', () => (connected.count += 1));
    const client = await host.connect(origin, { connections: 2 });
    const texts = await Promise.all(
      Array.from({ length: 8 }, async () => (await client.send({ path: '/' }, { signal })).text()),
    );
    expect(texts).to.have.length(8);
    expect(connected.count).to.equal(2);
    await host.dispose();
  });

  it('names the address, and no slot, where nothing answers', async () => {
    const host = fakeHost({ name: 'dlp' });
    const client = await host.connect('http://127.0.0.1:1');
    const error = await client.send({ path: '/' }, { signal }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'http://127.0.0.1:1 could not be reached (ECONNREFUSED).');
    await host.dispose();
  });

  it('is refused for an address that is not one of HTTP', async () => {
    const refused = await fakeHost().connect('ftp://127.0.0.1').catch(String);
    expect(refused).to.include('cannot connect to "ftp://127.0.0.1"; give the URL of an HTTP service');
  });
});
