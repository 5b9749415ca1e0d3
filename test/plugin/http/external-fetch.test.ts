import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { externalFetch } from '@gw2api/gateway/plugin';
import { openHttpClient } from '#src/engine/transport/http-client.js';
import { makeCertificate } from '../../whole/certificates.js';
import { TempFolders } from '../../whole/temp-folders.js';
import { createLogger } from '#src/gateway/telemetry/logs.js';

const host = 'provider.example';
const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];

describe('calls that are not to a slot', () => {
  const folders = new TempFolders();
  const servers = new Set<Server>();
  let ca = '';
  let key = '';
  let tunnels: string[] = [];
  const own = new Map(proxyVariables.map((name) => [name, process.env[name]]));
  beforeEach(() => {
    for (const name of proxyVariables) delete process.env[name];
  });
  before(async () => {
    const folder = await folders.make();
    await makeCertificate(folder, 'own', host);
    ca = await readFile(path.join(folder, 'own.crt'), 'utf8');
    key = await readFile(path.join(folder, 'own.key'), 'utf8');
  });
  afterEach(() => {
    for (const [name, value] of own)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    for (const server of servers) {
      if ('closeAllConnections' in server)
        (server as ReturnType<typeof createHttpServer>).closeAllConnections();
      server.close();
    }
    servers.clear();
    tunnels = [];
  });
  after(() => folders.remove());

  async function listening(server: Server): Promise<number> {
    servers.add(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // it listens on a port
  }

  const hello: RequestListener = (_, response) => void response.end('Hello');
  const serve = async () =>
    `https://127.0.0.1:${await listening(createHttpsServer({ cert: ca, key }, hello))}/`;

  /** A proxy that notes what it is asked to connect to. */
  async function startProxy(): Promise<string> {
    const server = createHttpServer();
    server.on('connect', ({ url }, socket: Socket) => {
      tunnels.push(String(url));
      const upstream = connect(Number(String(url).split(':')[1]), '127.0.0.1', () =>
        socket.write('HTTP/1.1 200 OK\r\n\r\n'),
      );
      upstream.pipe(socket).pipe(upstream);
      for (const each of [socket, upstream]) each.on('error', () => each.destroy());
    });
    return `http://127.0.0.1:${await listening(server)}`;
  }

  const textOf = async (url: string, tls?: Parameters<typeof externalFetch>[0]) =>
    (await externalFetch(tls)(url)).text();
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: Error) => String((error.cause as Error | undefined) ?? error),
    );

  it('trust a certificate that they are given', async () => {
    const url = await serve();
    expect(await failure(textOf(url))).to.include('self-signed certificate');
    expect(await textOf(url, { ca, servername: host })).to.equal('Hello');
    expect(await failure(textOf(url, { ca }))).to.include("does not match certificate's altnames");
  });

  it('go through the proxy of the environment, but for the hosts of NO_PROXY', async () => {
    const url = await serve();
    process.env['HTTPS_PROXY'] = await startProxy();
    expect(await textOf(url, { ca, servername: host })).to.equal('Hello');
    expect(tunnels).to.deep.equal([new URL(url).host]);
    process.env['NO_PROXY'] = 'localhost,127.0.0.1';
    expect(await textOf(url, { ca, servername: host })).to.equal('Hello');
    expect(tunnels).to.have.length(1);
  });

  it('go through it for the tokens of an account, and never for a slot', async () => {
    const baseUrl = `http://127.0.0.1:${await listening(createHttpServer(hello))}`;
    process.env['HTTP_PROXY'] = await startProxy();
    const settings = { id: 'a', headers: {}, connectTimeoutMs: 5000, baseUrl, log: createLogger('silent') };
    for (const [usesEnvironment, through] of [
      [true, [new URL(baseUrl).host]],
      [false, []],
    ] as const) {
      tunnels = [];
      const client = openHttpClient({ ...settings, usesEnvironment });
      const answer = await client.send({ path: '/' }, { signal: new AbortController().signal });
      expect(await answer.text()).to.equal('Hello');
      expect(tunnels).to.deep.equal(through);
      await client.close();
    }
  });
});
