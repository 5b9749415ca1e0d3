import { expect } from 'chai';
import { masterKey, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn } from '../kit.js';

const slots = [{ id: 'a', upstream: 'simulator' }];
const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
const https = { 'x-forwarded-proto': 'https' };

type Headers = Readonly<Record<string, string>>;

describe('the cookies of a console session', () => {
  let root: GatewayUnderTest;
  let below: GatewayUnderTest;
  before(async () => {
    root = await startGateway({ listen, slots });
    below = await startGateway({ listen, slots, panel: { publicUrl: 'https://gw.example.com/llm' } });
  });
  after(async () => {
    await root?.close();
    await below?.close();
  });

  const ask = (under: GatewayUnderTest, method: string, path: string, headers: Headers, body?: object) =>
    fetch(`${under.url}/api/panel${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const logIn = async (under: GatewayUnderTest, headers: Headers = {}) => {
    const answer = await ask(under, 'POST', '/login', headers, { password: masterKey });
    const lines = answer.headers.getSetCookie();
    const cookie = lines.map((line) => line.split(';')[0]).join('; ');
    return { lines, cookie, csrf: ((await answer.json()) as { csrf_token: string }).csrf_token };
  };
  const terms = (lines: readonly string[]) =>
    lines.map((line) => line.replace(/=[^;]*/, '').replace(/ Max-Age=\d+; SameSite=Strict/, ''));

  it('are bound to the host over https at its root', async () => {
    expect(terms((await logIn(root, https)).lines)).to.deep.equal([
      '__Host-gw_session; HttpOnly; Path=/;; Secure',
      '__Host-gw_csrf; Path=/;; Secure',
    ]);
  });

  it('are bound to https and to its path below one', async () => {
    expect(terms((await logIn(below, https)).lines)).to.deep.equal([
      '__Secure-gw_session; HttpOnly; Path=/llm;; Secure',
      '__Secure-gw_csrf; Path=/llm;; Secure',
    ]);
  });

  it('have plain names over http', async () => {
    expect(terms((await logIn(root)).lines)).to.deep.equal([
      'gw_session; HttpOnly; Path=/;',
      'gw_csrf; Path=/;',
    ]);
  });

  for (const [place, of] of [
    ['at the root', () => root],
    ['below a path', () => below],
  ] as const)
    it(`open the console ${place} and end with the logout`, async () => {
      const under = of();
      const { cookie, csrf } = await logIn(under, https);
      const headers = { cookie, 'x-csrf-token': csrf, ...https };
      expect((await ask(under, 'GET', '/session', headers)).status).to.equal(200);
      expect((await ask(under, 'POST', '/teams', headers, { name: place })).status).to.equal(201);
      const forged = { ...headers, 'x-csrf-token': `${csrf}x` };
      expect((await ask(under, 'POST', '/teams', forged, { name: 'forged' })).status).to.equal(403);
      const bye = (await ask(under, 'POST', '/logout', headers)).headers.getSetCookie();
      expect(bye.map((line) => line.split(';')[0])).to.deep.equal(
        cookie.split('; ').map((pair) => pair.replace(/=.*/, '=')),
      );
      expect((await ask(under, 'GET', '/session', headers)).status).to.equal(401);
    });

  it('are not those that a page of a neighbouring host has set', async () => {
    const { cookie } = await logIn(root);
    expect((await ask(root, 'GET', '/session', { cookie })).status).to.equal(200);
    const refused = await errorIn(await ask(root, 'GET', '/session', { cookie, ...https }));
    expect(refused).to.include({ status: 401, code: 'missing_api_key' });
  });

  it('take the place of those of another kind that the browser has', async () => {
    const old = await logIn(root, https);
    const { lines, cookie } = await logIn(root, { cookie: old.cookie });
    expect(terms(lines)).to.have.members([
      'gw_session; HttpOnly; Path=/;',
      'gw_csrf; Path=/;',
      '__Host-gw_session; HttpOnly; Path=/;; Secure',
      '__Host-gw_csrf; Path=/;; Secure',
    ]);
    const kept = cookie.split('; ').filter((pair) => !pair.endsWith('='));
    expect((await ask(root, 'GET', '/session', { cookie: kept.join('; ') })).status).to.equal(200);
    expect((await ask(root, 'GET', '/session', { cookie: old.cookie, ...https })).status).to.equal(401);
  });

  it('are named in the document of the API', async () => {
    const document = (await (await fetch(`${below.url}/openapi.json`)).json()) as {
      components: { securitySchemes: Record<string, { name: string; description: string }> };
    };
    const { session, csrf } = document.components.securitySchemes;
    expect(session!.name).to.equal('__Secure-gw_session');
    expect(csrf!.description).to.equal('Value of the cookie __Secure-gw_csrf.');
  });
});

describe('the idle timeout of console sessions', () => {
  let nowMs = Date.UTC(2026, 0, 1);
  let under: GatewayUnderTest;
  before(async () => {
    const panel = { sessionIdleTimeout: '10m' };
    under = await startGateway({ slots, panel }, {}, () => nowMs);
  });
  after(() => under.close());

  const minutes = (count: number) => void (nowMs += count * 60_000);
  const logIn = async () => {
    const { headers } = await under.post('/api/panel/login', { password: masterKey });
    const cookie = headers.getSetCookie().map((line) => line.split(';')[0]);
    return (more: Headers = {}) =>
      fetch(`${under.url}/api/panel/session`, { headers: { cookie: cookie.join('; '), ...more } });
  };

  it('ends a session that has made no request for so long', async () => {
    const ask = await logIn();
    minutes(9.9);
    expect((await ask()).status).to.equal(200);
    minutes(9.9);
    expect((await ask()).status).to.equal(200);
    minutes(10);
    expect(await errorIn(await ask())).to.include({ status: 401, code: 'invalid_session' });
    expect((await ask()).status).to.equal(401);
    const sessions = await under.get('/api/panel/sessions');
    expect(((await sessions.json()) as { data: object[] }).data).to.deep.equal([]);
  });

  it('is not put off by what a page asks with nobody at it', async () => {
    const ask = await logIn();
    minutes(6);
    expect((await ask({ 'x-gw-unattended': '1' })).status).to.equal(200);
    minutes(6);
    expect((await ask()).status).to.equal(401);
  });

  it('is a minute or more, and off without being set', async () => {
    const start = (sessionIdleTimeout: string) => startGateway({ slots, panel: { sessionIdleTimeout } });
    const problem = await start('59s').catch((error: unknown) => String(error));
    expect(problem).to.match(/panel\.sessionIdleTimeout: must be 0s \(no limit\) or at least 1m, not "59s"/);
  });
});
