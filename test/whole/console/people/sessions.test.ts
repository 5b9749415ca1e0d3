import { request } from 'node:http';
import { expect } from 'chai';
import { aViewer, anAdmin, sessionOf, withOidc } from '../console-login.js';
import { masterKey, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../panel-client.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import type { Actor } from '#src/state/store/contract/actor.js';

const config = { slots: [{ id: 'a', upstream: 'simulator' }], ...withOidc };

describe('the sessions of the console', () => {
  let nowMs: number;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    under = await startGateway(config, {}, () => nowMs);
  });
  afterEach(() => under.close());

  const as = async (actor: Actor, at = under) => new PanelClient(at.url, await sessionOf(at, actor));
  const names = async (client: PanelClient) => {
    const { data } = await client.get('/sessions');
    return (data as readonly { name: string; current: boolean }[]).map(({ name, current }) =>
      current ? `${name} (me)` : name,
    );
  };
  const idOf = async (client: PanelClient, wanted: string): Promise<string> => {
    const { data } = await client.get('/sessions');
    return (data as readonly { name: string; id: string }[]).find(({ name }) => name === wanted)!.id;
  };

  it('are listed with who, since when, last seen, from where and with which browser', async () => {
    const login = await under.post(
      '/api/panel/login',
      { password: masterKey },
      { 'x-api-key': '', 'user-agent': `Mozilla/5.0 ${'x'.repeat(500)}` },
    );
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const mine = new PanelClient(under.url, { cookie });
    await mine.get('/status');
    nowMs += 59_000;
    await mine.get('/status');
    const { data } = await mine.get('/sessions');
    expect(data).to.have.length(1);
    const { id, ...rest } = data[0];
    expect(rest).to.deep.equal({
      kind: 'password',
      name: 'password',
      role: 'admin',
      subject: null,
      current: true,
      created_at: '2026-01-01T00:00:00.000Z',
      last_seen_at: '2026-01-01T00:00:00.000Z',
      expires_at: '2026-01-01T12:00:00.000Z',
      address: '127.0.0.1',
      user_agent: `Mozilla/5.0 ${'x'.repeat(500)}`.slice(0, 256),
    });
    const [stored] = await under.gateway.services.store.sessions.list();
    expect(id).to.match(/^[0-9a-f]{24}$/);
    expect(stored!.tokenHash).not.to.include(id);
    nowMs += 1000;
    await mine.get('/status');
    expect((await mine.get('/sessions')).data[0].last_seen_at).to.equal('2026-01-01T00:01:00.000Z');
  });

  it('are all an admin sees, and a viewer sees and ends their own', async () => {
    const [ada, vera, other] = [await as(anAdmin), await as(aViewer), await as(aViewer)];
    expect((await names(ada)).toSorted()).to.deep.equal([
      'ada@example.com (me)',
      'vera@example.com',
      'vera@example.com',
    ]);
    expect((await names(vera)).toSorted()).to.deep.equal(['vera@example.com', 'vera@example.com (me)']);
    const adas = await idOf(ada, 'ada@example.com');
    expect(await errorIn(await vera.fetch('DELETE', `/sessions/${adas}`))).to.include({ status: 404 });
    expect(await vera.ask('DELETE', '/sessions')).to.deep.equal({ ended: 1 });
    expect((await other.fetch('GET', '/status')).status).to.equal(401);
    expect((await ada.fetch('GET', '/status')).status).to.equal(200);
  });

  it('of people with the same name are apart: the provider alone says who somebody is', async () => {
    const vera = await as(aViewer);
    const other = new PanelClient(under.url, await sessionOf(under, aViewer, { subject: 'another vera' }));
    for (const client of [vera, other]) expect(await names(client)).to.deep.equal(['vera@example.com (me)']);
    expect(await vera.ask('DELETE', '/sessions')).to.deep.equal({ ended: 0 });
    const { data } = await (await as(anAdmin)).get('/sessions');
    const subjects = (data as readonly { subject: string }[]).map(({ subject }) => subject);
    expect(subjects).to.have.members(['ada@example.com', 'another vera', 'vera@example.com']);
    const [{ id }] = (await other.get('/sessions')).data;
    expect(await errorIn(await vera.fetch('DELETE', `/sessions/${id}`))).to.include({ status: 404 });
  });

  it('end one by one, or all but one', async () => {
    const [ada, vera] = [await as(anAdmin), await as(aViewer)];
    expect((await ada.fetch('DELETE', `/sessions/${await idOf(ada, aViewer.name)}`)).status).to.equal(204);
    expect(await errorIn(await vera.fetch('GET', '/status'))).to.include({
      status: 401,
      code: 'invalid_session',
    });
    await Promise.all([as(aViewer), as(anAdmin), as(aViewer)]);
    expect(await ada.ask('DELETE', '/sessions')).to.deep.equal({ ended: 3 });
    expect(await names(ada)).to.deep.equal(['ada@example.com (me)']);
    expect(await new PanelClient(under.url).ask('DELETE', '/sessions')).to.deep.equal({ ended: 1 });
    expect((await ada.fetch('GET', '/status')).status).to.equal(401);
  });

  it('end their live streams at once where people sign out', async () => {
    const headers = await sessionOf(under, aViewer);
    const stream = await fetch(`${under.url}/api/panel/requests/live`, { headers });
    const text = stream.text();
    await new PanelClient(under.url, headers).fetch('POST', '/logout');
    expect(await text).to.include('your session is over');
  });

  it('are Secure for a browser that comes by the public address, whatever its proxy says', async () => {
    const { oidc } = withOidc.panel;
    const behind = await startGateway({ ...config, panel: { publicUrl: 'https://gw.example.com', oidc } });
    const cookiesAt = async (host: string) =>
      new Promise<readonly string[]>((resolve, reject) => {
        const headers = { host, 'content-type': 'application/json' };
        request(`${behind.url}/api/panel/login`, { method: 'POST', headers }, (answer) => {
          resolve(answer.resume().headers['set-cookie'] ?? []);
        })
          .on('error', reject)
          .end(JSON.stringify({ password: masterKey }));
      });
    for (const line of await cookiesAt('GW.example.com')) expect(line).to.match(/^__Host-.*; Secure$/);
    for (const line of await cookiesAt('127.0.0.1:8787')) expect(line).to.not.include('Secure');
    await behind.close();
  });

  it('of a kind of login that is switched off are over, and not listed', async () => {
    const next = await startGateway({ slots: config.slots }, {}, () => nowMs);
    const vera = await as(aViewer, next);
    expect((await vera.fetch('GET', '/status')).status).to.equal(401);
    expect((await new PanelClient(next.url).get('/sessions')).data).to.deep.equal([]);
    await next.close();
  });

  it('end at once with their live streams, also those on another instance', async () => {
    const hub = new MemoryHub();
    const [one, two] = await Promise.all([
      startGateway(config, {}, () => nowMs, { live: hub.connect() }),
      startGateway(config, {}, () => nowMs, { live: hub.connect() }),
    ]);
    const shared = one.gateway.services.store.sessions;
    Object.assign(two.gateway.services.store.sessions, {
      get: (hash: string) => shared.get(hash),
      list: () => shared.list(),
      delete: (hash: string) => shared.delete(hash),
    });
    const headers = await sessionOf(one, aViewer);
    const stream = await fetch(`${two.url}/api/panel/requests/live`, { headers });
    expect(stream.status).to.equal(200);
    const text = stream.text();
    const ada = await as(anAdmin, one);
    await ada.fetch('DELETE', `/sessions/${await idOf(ada, aViewer.name)}`);
    expect(await text).to.include('your session is over');
    await Promise.all([one.close(), two.close()]);
  });
});
