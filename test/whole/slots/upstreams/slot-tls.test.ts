import { once } from 'node:events';
import { rename, readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { makeCertificate, signCertificate } from '../../certificates.js';
import { ask, configOf, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

const host = 'upstream.example';

describe('the TLS of a slot', function () {
  this.timeout(30_000);
  const folders = new TempFolders();
  const servers = new Set<Server>();
  let folder = '';
  let simulator: Simulator;
  let under: GatewayUnderTest | undefined;
  /** Names that the server was asked for, and the client's certificates. */
  let asked: string[];
  let shown: string[];

  before(async () => {
    folder = await folders.make();
    simulator = await startSimulator();
    for (const name of ['own', 'issuer', 'client', 'next']) await makeCertificate(folder, name, host);
    await signCertificate(folder, 'leaf', host, 'issuer');
  });
  beforeEach(() => {
    asked = [];
    shown = [];
  });
  afterEach(async () => {
    await under?.close();
    for (const server of servers) server.close();
    servers.clear();
  });
  after(async () => {
    await simulator.close();
    await folders.remove();
  });

  const file = (name: string) => readFile(path.join(folder, name));

  /** A server with a certificate before the simulator; `client`: the certificate that callers must have. */
  async function serve(name: string, client?: string): Promise<string> {
    const options: TlsOptions = { cert: await file(`${name}.crt`), key: await file(`${name}.key`) };
    const demands = client ? { requestCert: true, ca: await file(`${client}.crt`) } : {};
    const server = createServer({ ...options, ...demands }, (socket: TLSSocket) => {
      asked.push(String(socket.servername));
      if (client) shown.push(String(socket.getPeerCertificate().subject.CN));
      join(socket, connect(Number(new URL(simulator.url).port), '127.0.0.1'));
    });
    return `https://127.0.0.1:${await listening(server)}`;
  }

  async function listening(server: Server): Promise<number> {
    servers.add(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // it listens on a port
  }

  async function start(slot: object): Promise<GatewayUnderTest> {
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slot] }));
    return (under = await startGateway(path.join(folder, 'gateway.yaml'), {}, Date.now, { baseDir: folder }));
  }

  const call = async () => {
    const answer = await under!.post('/v1/messages', ask('Hello!'));
    return answer.status === 200 ? { status: 200, message: await answer.text() } : errorIn(answer);
  };

  /** What the log says of a slot that cools. */
  const cause = () =>
    String(under!.logged.findLast(({ msg }) => msg === 'The slot is in cooldown.')?.['cause']);

  it('refuses a certificate that nobody vouches for, and says so', async () => {
    await start(slotAt(await serve('own')));
    expect(await call()).to.include({ status: 502, message: 'The upstream could not be reached.' });
    expect(cause()).to.equal('Slot "a" could not reach its upstream (DEPTH_ZERO_SELF_SIGNED_CERT).');
  });

  for (const [what, name] of [
    ['signs itself', 'own'],
    ['somebody unknown has signed', 'leaf'],
  ] as const)
    it(`trusts a certificate that ${what}, where it is given`, async () => {
      await start(slotAt(await serve(name), { tls: { ca: `${name}.crt`, servername: host } }));
      expect(await call()).to.include({ status: 200 });
      expect(asked).to.deep.equal([host]);
    });

  it('trusts whoever an issuer has signed, and nobody under another name', async () => {
    const url = await serve('leaf');
    await start(slotAt(url, { tls: { ca: 'issuer.crt', servername: host } }));
    expect(await call()).to.include({ status: 200 });
    await under!.close();
    await start(slotAt(url, { tls: { ca: 'issuer.crt' } }));
    expect((await call()).status).to.equal(502);
    expect(cause()).to.include('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('shows a certificate of its own', async () => {
    const tls = { ca: 'own.crt', servername: host, cert: 'client.crt', key: 'client.key' };
    const { id, ...slot } = slotAt(await serve('own', 'client'), { tls }) as { id: string };
    await start({ id, ...slot });
    expect(await call()).to.include({ status: 200 });
    expect(shown).to.deep.equal(['client']);
    const report = await new PanelClient(under!.url).ask('POST', `/slots/${id}/diagnose`);
    expect(report.ok, JSON.stringify(report)).to.equal(true);
  });

  it('is read again by a reload', async () => {
    const url = await serve('next');
    await writeIn(folder, 'current.crt', String(await file('own.crt')));
    await start(slotAt(url, { tls: { ca: 'current.crt', servername: host } }));
    expect((await call()).status).to.equal(502);
    await writeIn(folder, 'new.crt', String(await file('next.crt')));
    await rename(path.join(folder, 'new.crt'), path.join(folder, 'current.crt'));
    const { status } = await under!.post('/admin/reload', {});
    expect(status).to.equal(200);
    await under!.post('/admin/slots/a/resume', {});
    expect(await call()).to.include({ status: 200 });
  });

  it('goes through a proxy', async () => {
    const proxy = createHttpServer();
    proxy.on('connect', ({ url }, socket: Socket) => {
      const [name, port] = String(url).split(':');
      const upstream = connect(Number(port), name, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      join(socket, upstream);
    });
    const through = `http://127.0.0.1:${await listening(proxy)}`;
    await start(slotAt(await serve('own'), { proxy: through, tls: { ca: 'own.crt', servername: host } }));
    expect(await call()).to.include({ status: 200 });
    expect(asked).to.deep.equal([host]);
  });

  for (const status of [407, 403])
    it(`says that a proxy has answered ${status}: in the log, the state and the diagnosis`, async () => {
      const proxy = createHttpServer();
      proxy.on('connect', (_, socket: Socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`),
      );
      await start(slotAt('https://127.0.0.1:9', { proxy: `http://127.0.0.1:${await listening(proxy)}` }));
      const words = `Slot "a" could not reach its upstream (the proxy answered ${status}).`;
      expect(await call()).to.include({ status: 502, message: 'The upstream could not be reached.' });
      expect(cause()).to.equal(words);
      const slots = await (await under!.get('/admin/slots')).text();
      expect(slots).to.include(`the proxy answered ${status}`);
      const report = await new PanelClient(under!.url).ask('POST', '/slots/a/diagnose');
      expect(JSON.stringify(report)).to.include(`the proxy answered ${status}`);
    });

  for (const [tls, message] of [
    [{ ca: 'none.crt' }, 'slots[0].tls.ca: cannot be read (ENOENT): none.crt'],
    [{ ca: 'own.key' }, 'slots[0].tls.ca: contains no PEM certificate (BEGIN CERTIFICATE)'],
    [{ cert: 'own.crt' }, 'slots[0].tls: has no key: a certificate needs its key, and a key its certificate'],
    [{ cert: 'own.crt', key: 'next.key' }, 'slots[0].tls.key: is refused by OpenSSL'],
    [{ verify: false }, 'slots[0].tls.verify'],
  ] as const)
    it(`is a problem of the config where it is ${JSON.stringify(tls)}`, async () => {
      const error = await start(slotAt('https://127.0.0.1:9', { tls })).then(
        () => 'it started',
        (thrown: unknown) => String(thrown),
      );
      under = undefined;
      expect(error).to.include(message);
    });

  it('is that of the login provider too, whose files are read where it is enabled', async () => {
    const oidc = { issuer: 'https://127.0.0.1:9', clientId: 'c', clientSecret: 's', viewerGroups: ['*'] };
    const config = (enabled: boolean) =>
      configOf({
        slots: [slotAt(simulator.url)],
        panel: { publicUrl: 'http://127.0.0.1:1', oidc: { ...oidc, enabled, tls: { ca: 'none.crt' } } },
      });
    const file = path.join(folder, 'panel.yaml');
    await writeIn(folder, 'panel.yaml', config(true));
    const error = await startGateway(file).then(() => 'it started', String);
    expect(error).to.include('panel.oidc.tls.ca: cannot be read (ENOENT): none.crt');
    await writeIn(folder, 'panel.yaml', config(false));
    under = await startGateway(file);
    expect(await call()).to.include({ status: 200 });
  });

  it('is nothing that the console can set', async () => {
    await start(slotAt(simulator.url));
    const entry = { ...slotAt('https://127.0.0.1:9', { tls: { ca: 'own.crt' } }), id: 'b' };
    const error = await errorIn(await new PanelClient(under!.url).fetch('POST', '/slots', entry));
    expect(error).to.include({ status: 400 });
    expect(error.message).to.include('tls: names files, which is allowed only in the config file');
  });
});

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  for (const socket of [one, other]) socket.on('error', () => socket.destroy());
}
