import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { aViewer, anAdmin, sessionOf, withOidc } from '../whole/console/console-login.js';
import { ask, slotAt, stages, startPair, type Pair } from '../whole/harness.js';
import { PanelClient } from '../whole/console/panel-client.js';
import {
  chromium,
  looks,
  openWindow,
  overflowOf,
  shoot,
  startBrowser,
  violationsOf,
  type Look,
} from './browser-kit.js';

const long =
  'messages.3.content.0.image.source.base64: The image is larger than 5 MB. The key sk-ant-api03-0123456789abcdef ' +
  'of https://user:password@proxy.example.com/v1?key=abc was used for “Wie heißt der größte Fluß in 日本? 🙂”. ' +
  'It has many more words than anybody reads in one go, for it says the same thing again and again, and so only the first three hundred characters of it are kept. END';

describe('the error text of a request in a browser', function () {
  this.timeout(120_000);
  let browser: Browser;
  let pair: Pair;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    browser = await startBrowser();
    return undefined;
  });
  afterEach(() => pair.close());
  after(() => browser?.close());

  const start = async (errorTexts: boolean): Promise<void> => {
    const pipeline = stages({ with: { 'upstream-call': { attempts: 2 } } });
    const slots = (url: string) => [
      slotAt(url),
      slotAt(url, { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } }),
    ];
    pair = await startPair({ ...withOidc, pipeline, ledger: { errorTexts } }, {}, slots);
  };
  /** Id of a request that has failed. */
  const fail = async (): Promise<string> => {
    await (await pair.post('/v1/messages', ask('Hello!'))).text();
    await pair.gateway.exchanges.idle();
    await pair.gateway.services.ledger.flush();
    const { data } = await new PanelClient(pair.url).get('/requests?limit=1');
    return data[0].id;
  };
  /** Opens the page of a request, with a card of its error unless a viewer looks. */
  const look = async (
    id: string,
    name: string,
    as: Look,
    { isDark = false, actor = anAdmin } = {},
  ): Promise<Page> => {
    const window = await openWindow(browser, pair.url, as);
    const { page, context, complaints } = window;
    if (isDark) await page.emulateMedia({ colorScheme: 'dark' });
    const { cookie } = await sessionOf(pair, actor);
    const cookies = cookie.split('; ').map((part) => {
      const [cookieName = '', value = ''] = part.split('=');
      return { name: cookieName, value, url: pair.url };
    });
    await context.addCookies(cookies);
    await page.goto(`/panel/requests/${id}`);
    await page.getByRole('heading', { name: 'Upstream calls' }).waitFor();
    if (actor.role === 'admin') await page.getByRole('heading', { name: 'Error text' }).waitFor();
    await shoot(page, name);
    expect(await overflowOf(page), name).to.be.at.most(0);
    expect(await violationsOf(page), name).to.deep.equal([]);
    expect(complaints, name).to.deep.equal([]);
    return page;
  };
  const cardOf = (page: Page) =>
    page.locator('section', { has: page.getByRole('heading', { name: 'Error text' }) });

  it('stands on the opened page, masked and cut off, with the time until which it is kept', async () => {
    await start(true);
    pair.simulator.faults.push(
      `529 message=${JSON.stringify(`first ${long}`)} times=1`,
      `400 message=${JSON.stringify(long)} times=2`,
    );
    const id = await fail();
    for (const [as, isDark] of [
      ...Object.keys(looks).map((each) => [each as Look, false] as const),
      ['phone', true] as const,
    ]) {
      const page = await look(id, `error-text-${as}${isDark ? '-dark' : ''}`, as, { isDark });
      const text = (await cardOf(page).textContent()) ?? '';
      expect(text)
        .to.include('The image is larger than 5 MB')
        .and.include('The key *** of https://***@proxy');
      expect(text)
        .to.match(/Call 1, slot [ab]/)

        .and.match(/Kept until .*20\d\d/);
      expect(text).to.not.match(/0123456789|password|END|Call 2/);
      await page.context().close();
    }
    const page = await look(id, 'error-text-viewer', 'light', { actor: aViewer });
    expect(await cardOf(page).count()).to.equal(0);
    expect(await page.content()).to.not.include('larger than 5 MB');
    await page.context().close();
  });

  it('is not kept by default, and the page says which option keeps it', async () => {
    await start(false);
    pair.simulator.faults.push(`400 message=${JSON.stringify(long)} times=1`);
    const id = await fail();
    for (const as of Object.keys(looks) as Look[]) {
      const page = await look(id, `error-text-off-${as}`, as);
      expect(await cardOf(page).textContent())
        .to.include('not kept')
        .and.include('ledger: { errorTexts: true }');
      expect(await page.content()).to.not.include('larger than 5 MB');
      await page.context().close();
    }
  });

  it('has no card on a request that has not failed', async () => {
    await start(true);
    const id = await fail();
    const window = await openWindow(browser, pair.url);
    const { cookie } = await sessionOf(pair, anAdmin);
    const [name = '', value = ''] = (cookie.split('; ')[0] ?? '').split('=');
    await window.context.addCookies([{ name, value, url: pair.url }]);
    await window.page.goto(`/panel/requests/${id}`);
    await window.page.getByRole('heading', { name: 'Upstream calls' }).waitFor();
    expect(await cardOf(window.page).count()).to.equal(0);
    await window.close();
  });
});
