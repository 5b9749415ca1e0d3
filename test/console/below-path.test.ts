import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { makeCertificate } from '../whole/certificates.js';
import { freePort } from '../whole/free-port.js';
import { ask, startGateway, stages, type GatewayUnderTest } from '../whole/harness.js';
import {
  clientId,
  clientSecret,
  startOpenIdProvider,
  type OpenIdProvider,
} from '../whole/console/people/openid-provider.js';
import { nginxExample, Proxy } from '../whole/slots/instances/proxy-process.js';
import { TempFolders } from '../whole/temp-folders.js';
import { chromium, openWindow, shoot, signIn, startBrowser, type Window } from './browser-kit.js';

const program = process.env['GW_TEST_NGINX'];

const board = `export default {
  name: 'team-board',
  setup(_, host) {
    host.route({
      method: 'GET', path: '/board', auth: 'master', page: 'Team board',
      handle(ctx) { ctx.type = 'html'; ctx.body = '<!doctype html><h1>Board</h1>'; },
    });
    return (ctx, next) => next();
  },
};`;

/** Ways to reach a gateway, with the name of its session's cookie. */
const ways = [
  {
    title: 'below a path that nginx keeps, over https',
    path: '/llm',
    scheme: 'https',
    cookie: '__Secure-gw_session',
    change: (text: string) => text,
  },
  {
    title: 'below a path that nginx takes away',
    path: '/llm',
    scheme: 'http',
    cookie: 'gw_session',
    change: (text: string) => text.replace('proxy_pass http://gateways;', 'proxy_pass http://gateways/;'),
  },
  {
    title: 'at the root of its host, over https',
    path: '',
    scheme: 'https',
    cookie: '__Host-gw_session',
    change: (text: string) => text.replace('location /llm/ {', 'location / {'),
  },
] as const;

describe('the console behind nginx', function () {
  this.timeout(120_000);
  const folders = new TempFolders();
  let browser: Browser;
  let folder: string;

  before(async function () {
    if (!chromium || !program) return this.skip(); // set GW_TEST_CHROMIUM and GW_TEST_NGINX
    browser = await startBrowser();
    folder = await folders.make({ 'board.mjs': board });
    await makeCertificate(folder, 'tls', 'localhost');
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await folders.remove();
  });

  for (const { title, path, scheme, cookie, change } of ways)
    describe(title, () => {
      let provider: OpenIdProvider;
      let under: GatewayUnderTest;
      let proxy: Proxy;
      let window: Window;
      let page: Page;
      let [origin, url] = ['', ''];

      before(async () => {
        const port = await freePort();
        origin = `${scheme}://localhost:${port}`;
        url = origin + path;
        provider = await startOpenIdProvider(url, { ada: { groups: ['ops'] } });
        const { issuer } = provider;
        const oidc = { issuer, clientId, clientSecret, label: 'Example', adminGroups: ['ops'] };
        under = await startGateway({
          listen: { host: '127.0.0.1', port: 0, trustProxy: true },
          slots: [{ id: 'a', upstream: 'simulator' }],
          pipeline: [{ use: `${folder}/board.mjs` }, ...stages()],
          panel: { publicUrl: url, oidc },
        });
        const certificate = scheme === 'https' ? { certificate: 'tls' } : {};
        const example = nginxExample('nginx-below-a-path.conf', { change, ...certificate });
        proxy = await Proxy.start(program!, example, { folder, gateway: new URL(under.url).host, port });
        window = await openWindow(browser, origin, 'light', { ignoreHTTPSErrors: true });
        ({ page } = window);
        // The provider's forms for developers ask for a font of elsewhere.
        await window.context.route(/^https?:\/\/(?!(?:127\.0\.0\.1|localhost)[:/])/, (route) =>
          route.fulfill({ body: '' }),
        );
      });
      after(async () => {
        await window?.close();
        await proxy?.end();
        await under?.close();
        await provider?.close();
      });
      afterEach(async function () {
        if (this.currentTest?.state === 'failed') await shoot(page, `failed-${this.currentTest.title}`);
      });

      const cookies = async () =>
        (await window.context.cookies()).filter(({ name }) => name.endsWith('gw_session'));

      it('signs in with the password, and navigates below its path', async () => {
        await signIn(page, `${path}/panel`);
        await page.getByRole('link', { name: 'Slots' }).click();
        await page.waitForURL(`${url}/panel/slots`);
        await page.getByText('simulator').first().waitFor();
        const [{ name, path: at, secure } = { name: '', path: '', secure: false }] = await cookies();
        expect([name, at, secure]).to.deep.equal([cookie, path || '/', scheme === 'https']);
      });

      it('shows requests as they come, and loads a page of the depth anew', async () => {
        await page.goto(`${path}/panel/requests`);
        await page.getByText('Live', { exact: true }).first().waitFor();
        await under.post('/v1/messages', ask('Hi'));
        await page.getByRole('cell', { name: 'sonnet-5' }).first().click();
        await page.waitForURL(/\/panel\/requests\/[\w.%-]+$/);
        expect(page.url()).to.match(new RegExp(`^${url}/panel/requests/`));
        await page.reload();
        await page.getByRole('heading', { name: 'Upstream calls' }).waitFor();
        await shoot(page, `below-path-request-${scheme}`);
      });

      it('draws charts, whose script and styles are loaded when they are needed', async () => {
        await page.goto(`${path}/panel`);
        await page.locator('canvas').first().waitFor();
        await shoot(page, `below-path-overview-${scheme}`);
      });

      it('makes changes, shows the page of a plugin, and says its own address to clients', async () => {
        await page.goto(`${path}/panel/keys?issue=1`);
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill('below');
        await dialog.getByRole('button', { name: 'Issue', exact: false }).click();
        await page
          .getByText(/sk-gw-/)
          .first()
          .waitFor();
        await page.goto(`${path}/panel/pages/board`);
        await page.frameLocator('iframe').getByRole('heading', { name: 'Board' }).waitFor();
        await page.goto(`${path}/panel/connect`);
        await page.locator('.base-url', { hasText: url }).waitFor();
      });

      it('signs out, and in again at the OpenID provider', async () => {
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
        expect(await cookies()).to.deep.equal([]);
        await page.goto(`${path}/panel/keys?sort=name`);
        await page.getByRole('link', { name: 'Sign in with Example' }).click();
        await page.getByPlaceholder('Enter any login').fill('ada');
        await page.getByPlaceholder('and password').fill('x');
        await page.getByRole('button', { name: 'Sign-in' }).click();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
        expect(page.url()).to.equal(`${url}/panel/keys?sort=name`);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('button', { name: 'Yes, sign me out' }).click();
        await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
        expect(page.url()).to.include(`${url}/panel`);
      });

      it('works for an operator who comes past the proxy', async () => {
        const inside = await openWindow(browser, under.url);
        await signIn(inside.page, '/panel/slots');
        await inside.page.getByText('simulator').first().waitFor();
        await inside.page.reload();
        await inside.page.getByText('simulator').first().waitFor();
        expect(inside.page.url()).to.equal(`${under.url}${path}/panel/slots`);
        expect(inside.complaints).to.deep.equal([]);
        await inside.close();
      });

      it('has had no error of a script, and nothing that its security policy has refused', () => {
        const own = window.complaints.filter((each) => !/a request to http:\/\/127|fonts\./.test(each));
        expect(own).to.deep.equal([]);
      });
    });
});
