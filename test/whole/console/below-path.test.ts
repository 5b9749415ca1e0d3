import { expect } from 'chai';
import { CookieBrowser } from './people/cookie-browser.js';
import {
  startOpenIdProvider,
  clientId,
  clientSecret,
  type OpenIdProvider,
} from './people/openid-provider.js';
import { signIn } from './people/sign-in.js';
import { freePort } from '../free-port.js';
import { ask, masterKey, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn, raw } from '../kit.js';
import { nginxExample, Proxy } from '../slots/instances/proxy-process.js';
import { SocketClient } from '../socket-client.js';
import { TempFolders } from '../temp-folders.js';

const program = process.env['GW_TEST_NGINX'];
const slots = [{ id: 'a', upstream: 'simulator' }];

const ways = {
  'kept by nginx': (text: string) => text,
  'taken away by nginx': (text: string) =>
    text.replace('proxy_pass http://gateways;', 'proxy_pass http://gateways/;'),
};

for (const [way, change] of Object.entries(ways))
  describe(`a gateway below a path that is ${way}`, function () {
    this.timeout(60_000);
    const folders = new TempFolders();
    let provider: OpenIdProvider;
    let under: GatewayUnderTest;
    let proxy: Proxy;
    let url: string;

    before(async function () {
      if (!program) return this.skip();
      const port = await freePort();
      url = `http://127.0.0.1:${port}/llm`;
      provider = await startOpenIdProvider(url, { ada: { groups: ['ops'] }, eve: { groups: [] } });
      const { issuer } = provider;
      under = await startGateway({
        listen: { host: '127.0.0.1', port: 0, trustProxy: true },
        slots,
        panel: {
          publicUrl: `${url}/`,
          oidc: { issuer, clientId, clientSecret, adminGroups: ['ops'], viewerGroups: ['staff'] },
        },
      });
      const place = { folder: await folders.make(), gateway: new URL(under.url).host, port };
      proxy = await Proxy.start(program, nginxExample('nginx-below-a-path.conf', { change }), place);
      return undefined;
    });
    after(async () => {
      await proxy?.end();
      await under?.close();
      await provider?.close();
      await folders.remove();
    });

    const withKey = { 'x-api-key': masterKey };
    const json = async (path: string) => (await fetch(url + path, { headers: withKey })).json();

    it('serves requests, and says its base URL to those that miss it', async () => {
      const body = JSON.stringify(ask('Hi'));
      const headers = { ...withKey, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body });
      expect(answer.status).to.equal(200);
      expect(((await answer.json()) as { type: string }).type).to.equal('message');
      expect((await fetch(`${url}/`)).status).to.equal(200);
      const missed = await errorIn(await fetch(`${url}/x/v1/chat/completions`, { headers: withKey }));
      expect(missed.message).to.include(`set the base URL of the client to ${url}/v1.`);
      expect(await json('/api/panel/status')).to.include({ base_url: url });
    });

    it('opens WebSockets', async () => {
      const client = await SocketClient.open({ url });
      expect((await client.ask({ input: 'Hi' })).type).to.equal('response.completed');
      await client.close();
    });

    it('has links on every page of the console that lead to its files', async () => {
      for (const page of ['/panel', '/panel/', '/panel/requests/1-a']) {
        const answer = await fetch(url + page);
        const links = [...(await answer.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
        expect(links).to.have.length(4);
        for (const link of links) {
          expect((await fetch(new URL(link, answer.url))).status, link).to.equal(200);
          expect(link).to.match(/^\/llm\/(?:panel\/assets\/|openapi)/);
        }
      }
    });

    it('sends the same page in every encoding', async () => {
      const page = await (await fetch(`${url}/panel`)).text();
      expect(page).to.include('src="/llm/panel/assets/');
      for (const encoding of ['br', 'gzip', 'identity']) {
        const headers = { 'accept-encoding': encoding };
        const answer = await raw(`${under.url}/panel`, { method: 'HEAD', headers });
        expect(answer.headers['content-encoding'] ?? 'identity').to.equal(encoding);
        expect(await (await fetch(`${url}/panel`, { headers })).text()).to.equal(page);
      }
    });

    it('signs people in by OpenID Connect, with cookies of its path, and out again', async () => {
      const browser = new CookieBrowser();
      const end = await signIn(browser, url, 'ada', { returnTo: '/llm/panel/slots?sort=id' });
      expect(end.url).to.include(`${url}/api/panel/oidc/callback?`);
      expect(end.text).to.include('url=/llm/panel/slots?sort=id"');
      const ours = browser.lines.filter((line) => line.startsWith('gw_'));
      expect(ours.map((line) => /^(\w+)=.*Path=([^;]*)/.exec(line)!.slice(1).join(' '))).to.deep.equal([
        'gw_oidc /llm/api/panel/oidc',
        'gw_oidc /llm/api/panel/oidc',
        'gw_session /llm',
        'gw_csrf /llm',
        'gw_id_token /llm/api/panel/logout',
      ]);
      const session = await browser.visit(`${url}/api/panel/session`);
      expect(JSON.parse(session.text)).to.have.property('kind', 'session');
      const csrf = browser.cookie(url, 'gw_csrf')!;
      const out = await browser.visit(`${url}/api/panel/logout`, {
        method: 'POST',
        headers: { 'x-csrf-token': csrf },
      });
      const { continue_to: to } = JSON.parse(out.text) as { continue_to: string };
      expect(new URL(to).searchParams.get('post_logout_redirect_uri')).to.equal(`${url}/panel`);
      expect((await browser.visit(`${url}/api/panel/session`)).status).to.equal(401);
    });

    it('leads back to pages of its own alone', async () => {
      for (const [returnTo, page] of [
        ['/panel/keys', '/llm/panel/keys'],
        ['/llm/panelx', '/llm/panel'],
        ['/llm/v1/models', '/llm/panel'],
        ['https://evil.example/llm/panel', '/llm/panel'],
      ] as const)
        expect((await signIn(new CookieBrowser(), url, 'ada', { returnTo })).text).to.include(`url=${page}"`);
      const refused = await signIn(new CookieBrowser(), url, 'eve');
      expect(refused.text).to.include('href="/llm/panel"');
    });

    it('has a document whose paths are below the path', async () => {
      const { servers, paths } = (await json('/openapi.json')) as {
        servers: { url: string }[];
        paths: object;
      };
      expect(servers).to.deep.equal([{ url: '/llm' }]);
      expect(paths).to.have.property('/v1/models');
      const list = new URL(`${servers[0]!.url}/v1/models`, url);
      expect((await fetch(list, { headers: withKey })).status).to.equal(200);
    });

    it('is no way around the proxy to administration', async () => {
      for (const path of ['/admin/slots', '/llm/admin/slots', '/ADMIN/slots', '/metrics', '/llm/metrics'])
        expect((await fetch(url + path, { headers: withKey })).status, path).to.equal(404);
      for (const path of ['/admin/slots', '/llm/admin/slots'])
        expect((await under.get(path)).status, path).to.equal(200);
    });
  });

describe('a gateway that is given a path', () => {
  let under: GatewayUnderTest;
  before(async () => {
    under = await startGateway({ slots, panel: { publicUrl: 'https://gw.example.com/llm' } });
  });
  after(() => under.close());

  it('takes it away once, as a whole part, with a query after it or without', async () => {
    const status = async (path: string) => (await under.get(path)).status;
    for (const path of ['/llm', '/llm/', '/llm?ready=1', '/llm/health', '/health'])
      expect(await status(path), path).to.equal(200);
    for (const path of ['/llmx', '/llmx/health', '/llm/llm/health', '/LLM/health', '//llm/health'])
      expect(await status(path), path).to.equal(404);
  });
});
