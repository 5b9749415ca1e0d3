import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { CookieBrowser, type Visited } from './cookie-browser.js';
import { clientSecret } from './openid-provider.js';
import {
  callbackQuery,
  startScriptedProvider,
  type Script,
  type ScriptedProvider,
} from './scripted-provider.js';
import { freePort, startWithProvider, type WithProvider } from './sign-in.js';

describe('a faulty OpenID provider', () => {
  let provider: ScriptedProvider;
  let under: WithProvider;
  let browser: CookieBrowser;
  beforeEach(async () => {
    provider = await startScriptedProvider();
    under = await startWithProvider(await freePort(), provider.issuer);
    browser = new CookieBrowser();
  });
  afterEach(async () => {
    await under.close();
    await provider.close();
  });

  const begin = () => browser.visit(`${under.url}/api/panel/oidc/login`, {}, /\/authorize\?/);
  const finish = async (): Promise<Visited> =>
    browser.visit(`${under.url}/api/panel/oidc/callback?${callbackQuery((await begin()).url)}`);
  const sessions = () => under.gateway.services.store.sessions.list();
  const failures = () => under.logged.filter(({ msg }) => String(msg).includes('OpenID Connect failed'));

  it('is none where its answers are valid', async () => {
    expect((await finish()).status).to.equal(200);
    expect((await sessions()).map(({ actor }) => actor)).to.deep.equal([
      { kind: 'oidc', name: 'ada@example.com', role: 'admin' },
    ]);
    expect(provider.requests).not.to.include('GET /userinfo');
  });

  const hour = Math.floor(Date.now() / 1000) - 3600;
  const wrongTokens: readonly (readonly [what: string, script: Partial<Script>])[] = [
    ['another nonce', { claims: { nonce: 'other' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another audience', { claims: { aud: 'another-client' } }],
    ['several audiences and another party', { claims: { aud: ['gw2api', 'other'], azp: 'other' } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['a time that is over', { claims: { exp: hour } }],
    ['a signature of another key', { signsWithOther: true }],
  ];
  for (const [what, script] of wrongTokens)
    it(`gets nobody in by a token with ${what}`, async () => {
      Object.assign(provider.script, script);
      const page = await finish();
      expect(page.status).to.equal(401);
      expect(page.text).to.include('token is not valid for this login');
      expect(page.headers.get('content-type')).to.include('text/html');
      expect(await sessions()).to.deep.equal([]);
      expect(failures()).to.have.length(1);
      expect(JSON.stringify(under.logged))
        .not.to.match(/eyJ|code\./)
        .and.not.to.include(clientSecret);
    });

  it('does not let in by what userinfo says of somebody else', async () => {
    provider.script.claims = { groups: undefined };
    provider.script.userinfo = { sub: 'mallory', groups: ['ops'] };
    expect((await finish()).status).to.be.oneOf([401, 502]);
    expect(await sessions()).to.deep.equal([]);
    provider.script.userinfo = { groups: ['staff'] };
    expect((await finish()).status).to.equal(200);
    expect((await sessions())[0]?.actor.role).to.equal('viewer');
  });

  it('is another one than the config names: nobody is sent there', async () => {
    provider.script.metadata = { issuer: 'https://evil.example' };
    const page = await begin();
    expect(page.status).to.be.oneOf([401, 502]);
    expect(page.headers.get('location')).to.equal(null);
  });

  const broken: Readonly<Record<string, (res: ServerResponse) => void>> = {
    'is no JSON': (res) => void res.setHeader('content-type', 'application/json').end('<html>'),
    'has no type': (res) => void res.end('{}'),
    'says 500': (res) => void res.writeHead(500).end(),
    'is a redirect': (res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'breaks off': (res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{');
      res.destroy();
    },
    'has no end': (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!res.destroyed && res.write(' '.repeat(65_536)));
      };
      res.on('drain', more);
      more();
    },
  };
  for (const path of ['/.well-known/openid-configuration', '/token', '/jwks'])
    for (const [what, answer] of Object.entries(broken))
      it(`keeps nothing waiting where its ${path} ${what}, and works again afterwards`, async () => {
        provider.script.answers = { [path]: answer };
        const page = path.startsWith('/.well-known') ? await begin() : await finish();
        expect(page.status, page.text).to.equal(502);
        expect(page.text).to.include('did not give a usable answer');
        expect(failures()[0]).to.include({ level: 'error' });
        provider.script.answers = {};
        expect((await finish()).status).to.equal(200);
      });

  it('has a few seconds for an answer', async () => {
    provider.script.answers = { '/token': () => undefined };
    const page = await finish();
    expect(page.status).to.equal(502);
    expect(String(failures()[0]?.['reason'])).to.include('timed out');
  });

  it('refuses the secret of the gateway, and the page says what to check', async () => {
    provider.script.answers = {
      '/token': (res) =>
        void res
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"error":"invalid_client","error_description":"words of the provider"}'),
    };
    const page = await finish();
    expect(page.status).to.equal(502);
    expect(page.text).to.include('invalid_client').and.to.include('panel.oidc').and.not.to.include('words');
  });

  it('is away: the gateway goes on, people are told, and no try counts as a wrong login', async () => {
    const { issuer } = provider;
    await provider.close();
    for (let nth = 0; nth < 7; nth += 1) expect((await begin()).status).to.equal(502);
    expect((await under.get('/api/panel/status')).status).to.equal(200);
    expect(String(failures()[0]?.['reason'])).to.include('ECONNREFUSED');
    expect(issuer).to.include('127.0.0.1');
    provider = await startScriptedProvider(); // for the end of the test
  });

  it('keeps so many waiting that a login is refused: the audit log does not say that it was done', async () => {
    const held: ServerResponse[] = [];
    provider.script.answers = { '/.well-known/openid-configuration': (res) => void held.push(res) };
    const begun = Array.from({ length: 51 }, begin);
    expect((await Promise.race(begun)).status).to.equal(503);
    expect((await browser.visit(`${under.url}/api/panel/oidc/callback`)).status).to.equal(503);
    for (const res of held) res.destroy();
    await Promise.all(begun);
    const { entries } = await under.gateway.services.store.audit.page({}, { limit: 10 });
    expect(entries.map(({ outcome, code }) => [outcome, code])).to.deep.equal([['refused', 'overloaded']]);
  });

  it('names a person by a claim that they may choose: the audit log has the subject of each login', async () => {
    await finish();
    provider.script.claims = { sub: 'mallory', groups: [] };
    provider.script.userinfo = { sub: 'mallory' };
    await finish();
    const { entries } = await under.gateway.services.store.audit.page({}, { limit: 10 });
    expect(entries.map(({ actor, outcome, after }) => [actor.name, outcome, after])).to.deep.equal([
      ['anonymous', 'refused', { subject: 'mallory' }],
      ['ada@example.com', 'done', { subject: 'ada', role: 'admin' }],
    ]);
  });

  it('may change its keys at any time', async () => {
    expect((await finish()).status).to.equal(200);
    await provider.rotate();
    expect((await finish()).status).to.equal(200);
    expect(
      provider.requests.filter((each) => each === 'GET /.well-known/openid-configuration'),
    ).to.have.length(1);
  });
});
