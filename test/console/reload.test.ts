import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { ask, configOf, stages, startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { TempFolders, writeIn } from '../whole/temp-folders.js';
import {
  chromium,
  openWindow,
  overflowOf,
  shoot,
  signIn,
  startBrowser,
  violationsOf,
  type Window,
} from './browser-kit.js';

const slots = [{ id: 'a', upstream: 'simulator' }];

describe('the pipeline in a browser', function () {
  this.timeout(60_000);
  const folders = new TempFolders();
  let folder: string;
  let under: GatewayUnderTest;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let dialog: Locator;

  const write = (config: Readonly<Record<string, unknown>>) =>
    writeIn(folder, 'gateway.yaml', configOf({ slots, ...config }));

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    folder = await folders.make({});
    await write({});
    under = await startGateway(`${folder}/gateway.yaml`);
    await (await under.post('/v1/messages', ask('Hi'))).text();
    browser = await startBrowser();
    window = await openWindow(browser, under.url, 'phone');
    ({ page } = window);
    dialog = page.getByRole('dialog');
    await signIn(page, '/panel/pipeline');
    await page.getByRole('heading', { name: 'usage-mask' }).waitFor();
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await under?.close();
    await folders.remove();
  });

  const item = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
  const open = () => page.getByRole('button', { name: 'Reload', exact: true }).first().click();
  const isGood = async () => {
    expect(await overflowOf(page)).to.be.at.most(0);
    expect(await violationsOf(page)).to.deep.equal([]);
  };

  it('has each stage with its time and what went wrong in it', async () => {
    const figures = await item('auth').getByLabel('Its own time since the start').innerText();
    expect(figures.replaceAll(/\s+/g, ' ')).to.match(
      /^time p50 (< )?[\d.]+ m?s time p95 (< )?[\d.]+ m?s requests 1 faults 0 skips 0$/,
    );
  });

  it('folds away the options that are at their defaults, with what they mean', async () => {
    await item('body-limit').getByText('2 options at their defaults').click();
    await item('body-limit').getByText('128mb').first().waitFor();
    await item('body-limit')
      .getByText(/The largest body in bytes/)
      .waitFor();
    await isGood();
  });

  it('says that nothing would change where the file is as it was', async () => {
    await open();
    await dialog.getByText('Nothing would change:').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('shows why a file would be refused, and offers no reload', async () => {
    await write({ pipeline: stages().toReversed() });
    await open();
    await dialog.getByText('would refuse this file').waitFor();
    await dialog.getByText(/gateway\.yaml:\d+:\d+ pipeline\[0\] "format-encode" needs "reply"/).waitFor();
    expect(await dialog.getByRole('button', { name: 'Reload' }).isDisabled()).to.equal(true);
    await isGood();
    await shoot(page, 'reload-refused');
  });

  it('reads the file again when asked to, and shows what would change', async () => {
    await write({
      pipeline: stages({ with: { 'body-limit': { limit: '1mb' } }, without: ['cache-ttl'] }),
      listen: { host: '127.0.0.1', port: 0, trustProxy: true },
    });
    await dialog.getByRole('button', { name: 'Read again' }).click();
    await dialog.getByRole('heading', { name: 'Stages' }).waitFor();
    const [limit, gone] = await dialog.getByRole('listitem').allInnerTexts();
    expect(limit!.replaceAll(/\s+/g, ' ')).to.match(/body-limit .*with\.limit 128mb → 1mb$/);
    expect(gone).to.match(/removed\s+cache-ttl$/);
    await dialog.getByText('needs a restart').waitFor();
    await isGood();
    await shoot(page, 'reload-preview');
    expect(under.gateway.runtime.pipeline.stages.map(({ name }) => name)).to.include('cache-ttl');
  });

  it('reloads when that is confirmed, and shows the new pipeline', async () => {
    await dialog.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('The config was reloaded. Restart the gateway for: listen.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await item('cache-ttl').waitFor({ state: 'detached' });
    const row = item('body-limit').getByRole('row').filter({ hasText: 'limit' }).first();
    await row.getByText('1mb').waitFor();
  });

  it('gives a new config to a share of sessions first, and shows both sides', async () => {
    await write({ pipeline: stages({ with: { 'body-limit': { limit: '2mb' } } }) });
    await open();
    await dialog.getByLabel('For which sessions').selectOption('50');
    await dialog.getByRole('button', { name: 'Start the canary' }).click();
    await dialog.waitFor({ state: 'detached' });
    const card = page.getByRole('region', { name: 'Canary' });
    await card.getByText('50 % of new sessions').waitFor();
    await Promise.all(
      Array.from({ length: 20 }, async () => (await under.post('/v1/messages', ask('Hi'))).text()),
    );
    await page.reload();
    await card.getByRole('row', { name: /^First token, p50 \d+ ms \d+ ms$/ }).waitFor();
    await isGood();
    await shoot(page, 'canary');
    await card.getByRole('button', { name: 'Take it for all' }).click();
    await card.waitFor({ state: 'detached' });
    await item('body-limit').getByRole('row').filter({ hasText: '2mb' }).first().waitFor();
  });

  it('complains of nothing in the console of the browser', () => {
    expect(window.complaints).to.deep.equal([]);
  });
});
