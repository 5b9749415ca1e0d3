import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { stages, startPair, type Pair } from '../whole/harness.js';
import { TempFolders } from '../whole/temp-folders.js';
import { chromium, openWindow, signIn, startBrowser, violationsOf } from './browser-kit.js';

/** A page that says what its script can reach. */
const board = `export default {
  name: 'team-board',
  setup(_, host) {
    host.route({
      method: 'GET', path: '/board', auth: 'master', page: 'Team board',
      handle(ctx) {
        ctx.type = 'html';
        ctx.body = \`<!doctype html><html lang="en"><title>Board</title><h1>Board</h1><p id="found">no script</p><script>
          const reach = (name, read) => { try { read(); return name; } catch { return 'no ' + name; } };
          document.getElementById('found').textContent =
            [reach('cookie', () => document.cookie), reach('console', () => parent.document.title), origin].join();
        </script></html>\`;
      },
    });
    return (ctx, next) => next();
  },
};`;

describe("a plugin's page in the console", function () {
  this.timeout(60_000);
  const folders = new TempFolders();
  let pair: Pair;
  let browser: Browser;
  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    const folder = await folders.make({ 'board.mjs': board });
    pair = await startPair({ pipeline: [{ use: `${folder}/board.mjs` }, ...stages()] });
    browser = await startBrowser();
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
    await folders.remove();
  });

  it('is in the navigation, and runs where it reaches neither the console nor its cookies', async () => {
    const window = await openWindow(browser, pair.url);
    const { page } = window;
    await signIn(page);
    await page.getByRole('link', { name: 'Team board' }).click();
    await page.waitForURL('**/panel/pages/board');
    expect(await page.locator('iframe').getAttribute('sandbox')).to.equal('allow-scripts allow-forms');
    const found = page.frameLocator('iframe').locator('#found');
    await found.filter({ hasText: 'null' }).waitFor();
    expect(await found.textContent()).to.equal('no cookie,no console,null');
    await page.reload();
    await found.filter({ hasText: 'null' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await window.close();
  });

  it('is missed where no stage brings it', async () => {
    const window = await openWindow(browser, pair.url);
    const { page } = window;
    await signIn(page, '/panel/pages/nothing');
    await page.getByText('Page not found').waitFor();
    await window.close();
  });
});
