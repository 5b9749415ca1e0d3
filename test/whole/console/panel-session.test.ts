import { expect } from 'chai';
import { ask, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn, issueKey, raw } from '../kit.js';

const simulator = { slots: [{ id: 'a', upstream: 'simulator' }] };

interface Login {
  readonly cookie: string;
  readonly csrf: string;
  readonly lines: readonly string[];
}

describe('a console session', () => {
  let nowMs: number;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    under = await startGateway(simulator, {}, () => nowMs);
  });
  afterEach(() => under.close());

  const post = (path: string, headers: Readonly<Record<string, string>> = {}, body?: unknown) =>
    fetch(`${under.url}/api/panel${path}`, {
      method: 'POST',
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const tryLogin = (password: string, headers: Readonly<Record<string, string>> = {}) =>
    post('/login', headers, { password });

  async function logIn(password = masterKey, headers: Readonly<Record<string, string>> = {}): Promise<Login> {
    const response = await tryLogin(password, headers);
    expect(response.status).to.equal(200);
    const { csrf_token: csrf } = (await response.json()) as { csrf_token: string };
    const lines = response.headers.getSetCookie();
    return { csrf, lines, cookie: lines.map((line) => line.split(';')[0]).join('; ') };
  }

  const session = async (headers: Readonly<Record<string, string>>) =>
    fetch(`${under.url}/api/panel/session`, { headers });

  it('begins with the master key, in cookies that no script of another site can use', async () => {
    const { lines, csrf, cookie } = await logIn();
    expect(lines[0]).to.match(/^gw_session=[\w-]{43}; HttpOnly; Path=\/; Max-Age=43200; SameSite=Strict$/);
    expect(lines[1]).to.equal(`gw_csrf=${csrf}; Path=/; Max-Age=43200; SameSite=Strict`);
    const answer = await session({ cookie });
    expect(await answer.json()).to.deep.equal({
      kind: 'session',
      actor: { kind: 'password', name: 'password', role: 'admin' },
      expires_at: '2026-01-01T12:00:00.000Z',
    });
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const master = await session({ 'x-api-key': masterKey });
    expect(await master.json()).to.deep.equal({
      kind: 'master',
      actor: { kind: 'master', name: 'master', role: 'admin' },
      expires_at: null,
    });
  });

  it('is over after twelve hours', async () => {
    const { cookie } = await logIn();
    nowMs += 12 * 3_600_000 - 1;
    expect((await session({ cookie })).status).to.equal(200);
    nowMs += 1;
    expect(await errorIn(await session({ cookie }))).to.include({ status: 401, code: 'invalid_session' });
  });

  it('is over with its logout, and with the next login of the same browser', async () => {
    const first = await logIn();
    const bye = await post('/logout', { cookie: first.cookie, 'x-csrf-token': first.csrf });
    expect(bye.status).to.equal(204);
    expect(bye.headers.getSetCookie().join()).to.match(/gw_session=;.*Max-Age=0.*gw_csrf=;.*Max-Age=0/);
    expect(await errorIn(await session({ cookie: first.cookie }))).to.include({ code: 'invalid_session' });
    const second = await logIn();
    const third = await logIn(masterKey, { cookie: second.cookie });
    expect((await session({ cookie: second.cookie })).status).to.equal(401);
    expect((await session({ cookie: third.cookie })).status).to.equal(200);
  });

  it('is of no use but in the panel', async () => {
    const { cookie, csrf } = await logIn();
    for (const path of ['/admin/slots', '/v1/models', '/metrics']) {
      const response = await fetch(under.url + path, { headers: { cookie, 'x-csrf-token': csrf } });
      expect(await errorIn(response), path).to.include({ status: 401, code: 'missing_api_key' });
    }
  });

  it('cannot be made up, fixed beforehand or left empty', async () => {
    for (const cookie of ['gw_session=made-up', 'gw_session=%00', `gw_session=${'x'.repeat(5000)}`])
      expect(await errorIn(await session({ cookie }))).to.include({ status: 401, code: 'invalid_session' });
    for (const cookie of ['gw_session=', 'gw_csrf=x', 'xgw_session=x'])
      expect(await errorIn(await session({ cookie }))).to.include({ status: 401, code: 'missing_api_key' });
    const { cookie } = await logIn(masterKey, { cookie: 'gw_session=fixed; gw_csrf=fixed' });
    expect(cookie).not.to.include('fixed');
  });

  it('changes nothing without its CSRF token', async () => {
    const { cookie, csrf } = await logIn();
    const other = await logIn();
    const mixed = `${cookie.split('; ')[0]}; gw_csrf=${other.csrf}`;
    const forged: readonly Readonly<Record<string, string>>[] = [
      { cookie },
      { cookie, 'x-csrf-token': 'x' },
      { cookie, 'x-csrf-token': '' },
      { cookie: cookie.split('; ')[0]!, 'x-csrf-token': csrf },
      { cookie, 'x-csrf-token': other.csrf },
      { cookie: mixed, 'x-csrf-token': other.csrf },
    ];
    for (const headers of forged) {
      const refused = await errorIn(await post('/keys', headers, { name: 'k' }));
      expect(refused).to.include({ status: 403, code: 'forbidden' });
    }
    expect(await under.gateway.services.store.keys.list()).to.deep.equal([]);
    expect((await post('/keys', { cookie, 'x-csrf-token': csrf }, { name: 'k' })).status).to.equal(201);
    expect((await post('/keys', { 'x-api-key': masterKey }, { name: 'k' })).status).to.equal(201);
  });

  it('gives way to a key that is sent beside it', async () => {
    const { cookie } = await logIn();
    const key = await issueKey(under, 'someone');
    expect(await errorIn(await session({ cookie, 'x-api-key': key }))).to.include({ code: 'forbidden' });
    expect(await errorIn(await session({ cookie, 'x-api-key': 'no' }))).to.include({
      code: 'invalid_api_key',
    });
  });

  it('is not begun by a wrong password, five times a minute', async () => {
    for (const password of ['', 'wrong', `${masterKey} `, 'x', 'y'])
      expect(await errorIn(await tryLogin(password))).to.include({ status: 401, code: 'wrong_password' });
    nowMs += 20_000;
    const refused = await tryLogin(masterKey);
    expect(refused.headers.get('retry-after')).to.equal('40');
    expect(await errorIn(refused)).to.include({ status: 429, code: 'rate_limited' });
    nowMs += 40_000;
    await logIn();
  });

  it('is not begun by many wrong passwords at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => tryLogin('wrong')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).to.have.length(5);
    expect(statuses.filter((status) => status === 429)).to.have.length(15);
  });

  it('is not begun by a form, by text, or by what is not a login', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data']) {
      const body = JSON.stringify({ password: masterKey });
      const answer = await fetch(`${under.url}/api/panel/login`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(await errorIn(answer)).to.include({ status: 415, code: 'unsupported_media_type' });
    }
    for (const [body, message] of [
      [{}, 'password: is required'],
      [{ password: 5 }, 'password: must be a string, not a number'],
      [{ password: 'x'.repeat(1001) }, 'password: must have at most 1000 characters'],
      [{ password: masterKey, remember: true }, 'remember: is not a known key'],
      [[masterKey], 'body: must be an object, not an array'],
    ] as const) {
      const error = await errorIn(await post('/login', {}, body));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
    }
  });

  it('takes no body that is too large, whether it says so or not', async () => {
    const huge = JSON.stringify({ password: 'x'.repeat(20_000) });
    const headers = { 'content-type': 'application/json' };
    const declared = await raw(`${under.url}/api/panel/login`, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(huge) },
      pieces: [huge],
    });
    expect(declared.status).to.equal(413);
    const chunked = await raw(`${under.url}/api/panel/login`, { method: 'POST', headers, pieces: [huge] });
    expect(chunked.status).to.equal(413);
    expect(JSON.parse(chunked.text)).to.have.nested.property('error.code', 'body_too_large');
    const mega = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const key = await raw(`${under.url}/api/panel/keys`, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': masterKey },
      pieces: [mega],
    });
    expect(key.status).to.equal(413);
  });

  it('leaves only hashes in the store', async () => {
    const puts: string[] = [];
    const { sessions } = under.gateway.services.store;
    const put = sessions.put.bind(sessions);
    sessions.put = async (stored) => {
      puts.push(JSON.stringify(stored));
      return put(stored);
    };
    const { cookie, csrf } = await logIn();
    const [, token] = /gw_session=([^;]+)/.exec(cookie)!;
    expect(puts).to.have.length(1);
    expect(puts[0]).not.to.include(token).and.not.to.include(csrf);
  });

  it('says to strangers nothing of what is there', async () => {
    for (const path of ['/api/panel', '/api/panel/nothing', '/API/Panel/keys', '/api/panel/keys/x'])
      expect(await errorIn(await fetch(under.url + path)), path).to.include({ code: 'missing_api_key' });
    expect(await errorIn(await under.get('/api/panel/nothing'))).to.include({ code: 'not_found' });
    expect(await errorIn(await under.post('/api/panel/status', {}))).to.include({
      code: 'method_not_allowed',
    });
    expect(
      (await fetch(`${under.url}/API/PANEL/login`, { method: 'OPTIONS' })).headers.get('allow'),
    ).to.equal('GET, HEAD, POST, OPTIONS');
  });
});

describe('a console session, by address', () => {
  let under: GatewayUnderTest;
  beforeEach(async () => {
    const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
    under = await startGateway({ ...simulator, listen });
  });
  afterEach(() => under.close());

  const logIn = (password: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${under.url}/api/panel/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ password }),
    });

  it('is Secure behind https', async () => {
    const response = await logIn(masterKey, { 'x-forwarded-proto': 'https' });
    for (const line of response.headers.getSetCookie()) expect(line).to.match(/; Secure$/);
  });

  it('is not Secure where an untrusted connection says https', async () => {
    await under.close();
    under = await startGateway({
      ...simulator,
      listen: { host: '127.0.0.1', port: 0, trustProxy: ['192.0.2.0/24'] },
    });
    const response = await logIn(masterKey, { 'x-forwarded-proto': 'https' });
    for (const line of response.headers.getSetCookie()) expect(line).not.to.include('Secure');
  });

  it('is refused to one caller behind a CDN, whose own addresses vary, and to no other', async () => {
    await under.close();
    under = await startGateway({
      ...simulator,
      listen: { host: '127.0.0.1', port: 0, trustProxy: ['127.0.0.0/8', '104.16.0.0/13'] },
    });
    for (let nth = 0; nth < 5; nth += 1)
      await logIn('wrong', { 'x-forwarded-for': `198.51.100.7, 104.16.0.${nth}` });
    expect((await logIn(masterKey, { 'x-forwarded-for': '198.51.100.7, 104.16.9.9' })).status).to.equal(429);
    expect((await logIn(masterKey, { 'x-forwarded-for': '198.51.100.8, 104.16.0.1' })).status).to.equal(200);
  });

  it('is refused to the address that was wrong, as the nearest proxy has noted it, and to no other', async () => {
    for (let nth = 0; nth < 5; nth += 1)
      await logIn('wrong', { 'x-forwarded-for': `10.0.0.${nth}, 192.0.2.1` });
    expect((await logIn(masterKey, { 'x-forwarded-for': '10.9.9.9, 192.0.2.1' })).status).to.equal(429);
    expect((await logIn(masterKey, { 'x-forwarded-for': '192.0.2.2' })).status).to.equal(200);
  });

  it('counts a whole network of IPv6 as one address', async () => {
    for (let nth = 0; nth < 5; nth += 1) await logIn('wrong', { 'x-forwarded-for': `2001:db8:0:1::${nth}` });
    expect((await logIn(masterKey, { 'x-forwarded-for': '2001:db8::1:9:9:9:9' })).status).to.equal(429);
    expect((await logIn(masterKey, { 'x-forwarded-for': '2001:db8:0:2::1' })).status).to.equal(200);
  });
});

describe('a console with a password of its own', () => {
  it('is opened by that and not by the master key, which goes on in headers', async () => {
    const under = await startGateway(simulator, {}, Date.now, { panelPassword: 'open sesame' });
    const logIn = (password: string) => under.post('/api/panel/login', { password }, { 'x-api-key': '' });
    expect((await logIn(masterKey)).status).to.equal(401);
    expect((await logIn('open sesame')).status).to.equal(200);
    expect((await under.get('/api/panel/status')).status).to.equal(200);
    await under.close();
  });

  it('is not opened at all where there is neither', async () => {
    const under = await startGateway(simulator, {}, Date.now, { masterKey: '' });
    const response = await under.post('/api/panel/login', { password: '' }, { 'x-api-key': '' });
    expect(await errorIn(response)).to.include({ code: 'wrong_password' });
    await under.close();
  });

  it('forgets every session with the password that opened it', async () => {
    const under = await startGateway(simulator, {}, Date.now, { panelPassword: 'old' });
    const { sessions } = under.gateway.services.store;
    const login = await under.post('/api/panel/login', { password: 'old' }, { 'x-api-key': '' });
    const [cookie] = login.headers.getSetCookie();
    const next = await startGateway(simulator, {}, Date.now, { panelPassword: 'new' });
    next.gateway.services.store.sessions.get = (hash) => sessions.get(hash);
    const at = async ({ url }: GatewayUnderTest) =>
      (await fetch(`${url}/api/panel/session`, { headers: { cookie: cookie!.split(';')[0]! } })).status;
    expect([await at(under), await at(next)]).to.deep.equal([200, 401]);
    await Promise.all([under.close(), next.close()]);
  });
});

describe('the panel', () => {
  it('needs no slot that answers', async () => {
    const under = await startGateway({ slots: [slotAt('http://127.0.0.1:1')] });
    await under.post('/v1/messages', ask('Hello!'));
    expect((await under.get('/api/panel/status')).status).to.equal(200);
    await under.close();
  });
});
