import { expect } from 'chai';
import { masterKey, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../panel-client.js';
import { CookieBrowser } from './cookie-browser.js';
import { startOpenIdProvider, type OpenIdProvider } from './openid-provider.js';
import { freePort, signIn, startWithProvider, type WithProvider } from './sign-in.js';

const people = {
  ada: { groups: ['ops', 'staff'] },
  vera: { groups: ['staff'] },
  eve: { groups: ['elsewhere'] },
  nobody: {},
};

describe('a login with an OpenID provider', () => {
  let port: number;
  let provider: OpenIdProvider;
  let under: WithProvider;
  let browser: CookieBrowser;
  before(async () => {
    port = await freePort();
    provider = await startOpenIdProvider(`http://127.0.0.1:${port}`, people);
  });
  after(() => provider.close());
  beforeEach(async () => {
    under = await startWithProvider(port, provider.issuer);
    browser = new CookieBrowser();
  });
  afterEach(() => under.close());

  const callback = /\/api\/panel\/oidc\/callback/;
  const panelOf = ({ url }: GatewayUnderTest, from = browser) => {
    const csrf = from.cookie(url, 'gw_csrf') ?? '';
    return new PanelClient(url, { cookie: from.cookies(`${url}/api/panel/x`), 'x-csrf-token': csrf });
  };
  const oidcLog = () => under.logged.filter(({ msg }) => String(msg).includes('OpenID Connect failed'));

  it('opens a session as the groups say, whose role is fixed, and says who it is', async () => {
    const page = await signIn(browser, under.url, 'ada');
    expect(page).to.include({ status: 200 });
    expect(await panelOf(under).get('/session')).to.deep.include({
      kind: 'session',
      actor: { kind: 'oidc', name: 'ada@example.com', role: 'admin' },
    });
    expect((await panelOf(under).fetch('POST', '/slots/a/pause')).status).to.equal(200);

    const other = new CookieBrowser();
    await signIn(other, under.url, 'vera');
    const vera = panelOf(under, other);
    expect((await vera.get('/session')).actor).to.deep.include({ name: 'vera@example.com', role: 'viewer' });
    expect((await vera.get('/slots')).data).to.have.length(1);
    expect(await errorIn(await vera.fetch('POST', '/slots/a/resume'))).to.include({ status: 403 });
  });

  it('ends what the person has of another role, and all of a person without one', async () => {
    const groups: Record<string, readonly string[]> = {};
    const own = await startOpenIdProvider(`http://127.0.0.1:${port}`, {
      kim: {
        get groups() {
          return groups['kim'];
        },
      },
      ada: { groups: ['ops'] },
    });
    await under.close();
    under = await startWithProvider(port, own.issuer);
    const as = async (person: string) => {
      const from = new CookieBrowser();
      await signIn(from, under.url, person);
      return panelOf(under, from);
    };
    const statusOf = async (client: PanelClient) => (await client.fetch('GET', '/status')).status;
    groups['kim'] = ['ops'];
    const [ada, admin, twice] = [await as('ada'), await as('kim'), await as('kim')];
    expect([await statusOf(admin), await statusOf(twice)]).to.deep.equal([200, 200]);
    groups['kim'] = ['staff'];
    const viewer = await as('kim');
    expect([await statusOf(admin), await statusOf(twice), await statusOf(viewer)]).to.deep.equal([
      401, 401, 200,
    ]);
    groups['kim'] = ['elsewhere'];
    await as('kim');
    expect([await statusOf(viewer), await statusOf(ada)]).to.deep.equal([401, 200]);
    await own.close();
  });

  it('goes on to the console from a page of the same site, and nowhere else', async () => {
    const at = async (returnTo: string) =>
      (await signIn(new CookieBrowser(), under.url, 'ada', { returnTo })).text;
    expect(await at('/panel/slots?sort=id')).to.include('0;url=/panel/slots?sort=id');
    for (const evil of [
      'https://evil.example/panel',
      '//evil.example/panel',
      '/\\evil.example',
      '/panelx',
      'javascript:alert(1)',
    ])
      expect(await at(evil), evil)
        .to.include('0;url=/panel"')
        .and.not.to.include('evil');
  });

  it('keeps its flow in a cookie that is gone after it, and its session in cookies for this site alone', async () => {
    await signIn(browser, under.url, 'ada');
    const lines = browser.lines.filter((line) => line.startsWith('gw_'));
    expect(lines[0]).to.match(
      /^gw_oidc=[\w.-]{100,2000}; HttpOnly; Path=\/api\/panel\/oidc; Max-Age=600; SameSite=Lax$/,
    );
    expect(lines[1]).to.match(/^gw_oidc=; HttpOnly; Path=\/api\/panel\/oidc; Max-Age=0; SameSite=Lax$/);
    expect(lines[2]).to.match(
      /^gw_session=oidc\.[\w-]{43}; HttpOnly; Path=\/; Max-Age=43200; SameSite=Strict$/,
    );
  });

  it('is refused to people without a group, with a page that says so', async () => {
    for (const person of ['eve', 'nobody']) {
      const page = await signIn(new CookieBrowser(), under.url, person);
      expect(page.status, person).to.equal(403);
      expect(page.text).to.include('none of your groups may use this console');
      expect(page.headers.get('content-type')).to.include('text/html');
      expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    }
    expect(await under.gateway.services.store.sessions.list()).to.deep.equal([]);
    expect(oidcLog().map(({ reason }) => reason)).to.deep.equal([
      'no group with a role, subject "eve": the claim "groups" has 1 group, none of which has a role',
      'no group with a role, subject "nobody": neither ID token nor userinfo has the claim "groups"',
    ]);
  });

  it('is refused with the state of another login, in another browser, and a second time', async () => {
    const { url } = await signIn(browser, under.url, 'ada', { until: callback });
    const forged = new URL(url);
    forged.searchParams.set('state', 'made-up');
    const cookie = browser.cookie(under.url, 'gw_oidc')!;
    const put = (into: CookieBrowser) =>
      into.set(under.url, 'gw_oidc', { value: cookie, path: '/api/panel/oidc' });
    expect(await browser.visit(forged.href)).to.include({ status: 400 });
    const elsewhere = await new CookieBrowser().visit(url);
    expect(elsewhere.status).to.equal(400);
    expect(elsewhere.text).to.include('was not started in this browser');
    put(browser);
    expect((await browser.visit(url)).status).to.equal(200);
    put(browser);
    const again = await browser.visit(url);
    expect(again.status).to.equal(401);
    expect(again.text).to.include('it has already been used, or has expired');
    expect(oidcLog()).to.have.length(3);
    expect(JSON.stringify(under.logged)).not.to.include(new URL(url).searchParams.get('code')!);
  });

  it('is refused with the code of one login in the flow of another: PKCE and nonce do not match', async () => {
    const victim = new CookieBrowser();
    const stolen = new URL((await signIn(victim, under.url, 'ada', { until: callback })).url);
    const own = new URL((await signIn(browser, under.url, 'vera', { until: callback })).url);
    own.searchParams.set('code', stolen.searchParams.get('code')!);
    const page = await browser.visit(own.href);
    expect(page.status).to.equal(401);
    expect(await under.gateway.services.store.sessions.list()).to.deep.equal([]);
  });

  it('is refused after ten minutes, and where its cookie was made up', async () => {
    const { url } = await signIn(browser, under.url, 'ada', { until: callback });
    under.nowIs(600_001);
    expect((await browser.visit(url)).text).to.include('within the last ten minutes');
    for (const value of ['x', 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c', 'e30.e30.']) {
      const forger = new CookieBrowser();
      forger.set(under.url, 'gw_oidc', { value, path: '/api/panel/oidc' });
      expect((await forger.visit(url)).status).to.equal(400);
    }
  });

  it('is refused where the provider says no, and where it names another issuer', async () => {
    const { url } = await signIn(browser, under.url, 'ada', { until: callback });
    const { searchParams } = new URL(url);
    const cookie = { value: browser.cookie(under.url, 'gw_oidc')!, path: '/api/panel/oidc' };
    const answer = async (change: Readonly<Record<string, string>>) => {
      browser.set(under.url, 'gw_oidc', cookie);
      const query = new URLSearchParams({ ...Object.fromEntries(searchParams), ...change });
      return browser.visit(`${under.url}/api/panel/oidc/callback?${query.toString()}`);
    };
    expect(await answer({ iss: 'https://evil.example' })).to.include({ status: 400 });
    const denied = await answer({ error: 'access_denied', error_description: '<b>evil words</b>' });
    expect(denied.status).to.equal(403);
    expect(denied.text).to.include('access was denied').and.not.to.include('evil');
    const odd = await answer({ error: '<script>' });
    expect(odd.text).to.include('an unknown error').and.not.to.include('<script>');
  });

  it('is begun five wrong times a minute and no more', async () => {
    const tries = async () =>
      (await new CookieBrowser().visit(`${under.url}/api/panel/oidc/callback?code=x`)).status;
    for (let nth = 0; nth < 5; nth += 1) expect(await tries()).to.equal(400);
    expect(await tries()).to.equal(429);
    const blocked = await browser.visit(`${under.url}/api/panel/oidc/login`);
    expect(blocked.status).to.equal(429);
    expect(blocked.text).to.include('Too many wrong logins');
    expect((await panelOf(under).fetch('GET', '/login')).status).to.equal(200);
  });

  it('ends with the logout, which says where the provider ends its own', async () => {
    await signIn(browser, under.url, 'ada');
    const csrf = browser.cookie(under.url, 'gw_csrf')!;
    const logout = await browser.visit(`${under.url}/api/panel/logout`, {
      method: 'POST',
      headers: { 'x-csrf-token': csrf },
    });
    const { continue_to: to } = JSON.parse(logout.text) as { continue_to: string };
    expect(to).to.include(`${provider.issuer}/session/end?`).and.to.include('id_token_hint=ey');
    expect(browser.cookies(`${under.url}/api/panel/logout`)).to.equal('');
    expect(await under.gateway.services.store.sessions.list()).to.deep.equal([]);
  });

  it('lasts as long as configured, and no longer once the config says less', async () => {
    await under.close();
    under = await startWithProvider(port, provider.issuer, { sessionHours: 1 });
    await signIn(browser, under.url, 'ada');
    expect(browser.lines.find((line) => line.startsWith('gw_session='))).to.include('Max-Age=3600');
    under.nowIs(3_599_000);
    expect((await panelOf(under).fetch('GET', '/session')).status).to.equal(200);
    under.nowIs(3_600_001);
    expect((await panelOf(under).fetch('GET', '/session')).status).to.equal(401);
  });

  it('is the only one where the config says so: no password, and the master key in headers alone', async () => {
    const before = await under.post('/api/panel/login', { password: masterKey }, { 'x-api-key': '' });
    expect(before.status).to.equal(200);
    const { sessions } = under.gateway.services.store;
    const [old] = await sessions.list();
    await under.close();
    under = await startWithProvider(port, provider.issuer, { only: true });
    const refused = await under.post('/api/panel/login', { password: masterKey }, { 'x-api-key': '' });
    expect(await errorIn(refused)).to.include({ status: 403, code: 'forbidden' });
    expect((await under.get('/api/panel/status')).status).to.equal(200);
    expect(await panelOf(under).get('/login')).to.deep.equal({
      password: false,
      oidc: { label: new URL(provider.issuer).host, url: `${under.url}/api/panel/oidc/login` },
    });
    await under.gateway.services.store.sessions.put(old!);
    const cookie = before.headers.getSetCookie()[0]!.split(';')[0]!;
    expect((await fetch(`${under.url}/api/panel/session`, { headers: { cookie } })).status).to.equal(401);
    await signIn(browser, under.url, 'ada');
    expect((await panelOf(under).fetch('GET', '/session')).status).to.equal(200);
  });

  it('has no address where it is not configured', async () => {
    await under.close();
    under = await startWithProvider(port, provider.issuer, { enabled: false });
    expect((await browser.visit(`${under.url}/api/panel/oidc/login`)).status).to.equal(404);
    expect(await panelOf(under).get('/login')).to.deep.equal({ password: true, oidc: null });
  });
});
