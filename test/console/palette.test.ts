import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { slotAt, startPair, type Pair } from '../whole/harness.js';
import {
  chromium,
  openWindow,
  overflowOf,
  shoot,
  signIn,
  startBrowser,
  violationsOf,
  type Look,
  type Window,
} from './browser-kit.js';
import { askInEachFormat, issueByApi } from './traffic.js';

describe('the command palette and the shortcuts of the console', function () {
  this.timeout(60_000);
  let pair: Pair;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    pair = await startPair({}, {}, (url) => [slotAt(url, { id: 'team-a' })]);
    const key = await issueByApi(pair, { name: 'nightly-ci' });
    await askInEachFormat(pair, key);
    browser = await startBrowser();
    window = await signedIn('light');
    ({ page } = window);
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
  });

  async function signedIn(look: Look): Promise<Window> {
    const opened = await openWindow(browser, pair.url, look);
    await signIn(opened.page);
    await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return opened;
  }

  const palette = () => page.getByRole('dialog', { name: 'Command palette' });
  const field = () => palette().getByRole('combobox');
  const option = (name: string) => palette().getByRole('option', { name });

  async function opened(text: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await field().fill(text);
  }

  it('opens a page by its name, with the keyboard alone', async () => {
    await opened('pipe');
    expect(await option('Pipeline').getAttribute('aria-selected')).to.equal('true');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/panel/pipeline');
    await palette().waitFor({ state: 'detached' });
  });

  it('moves through the results with the arrows, from the last to the first', async () => {
    await opened('');
    const all = await palette().getByRole('option').count();
    await page.keyboard.press('ArrowUp');
    const last = palette()
      .getByRole('option')
      .nth(all - 1);
    expect(await last.getAttribute('aria-selected')).to.equal('true');
    expect(await field().getAttribute('aria-activedescendant')).to.equal(await last.getAttribute('id'));
    await page.keyboard.press('ArrowDown');
    expect(await palette().getByRole('option').first().getAttribute('aria-selected')).to.equal('true');
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
  });

  it('finds a key, its requests, and a slot', async () => {
    await opened('nightly');
    await option('Requests of nightly-ci').click();
    await page.waitForURL('**/panel/requests?key=*');
    await page.getByRole('row').filter({ hasText: 'nightly-ci' }).nth(3).waitFor();
    await opened('team-a slot');
    await option('Requests of team-a').waitFor();
    await page.keyboard.press('Escape');
  });

  it('jumps to a request by its id', async () => {
    const { rows } = await pair.gateway.services.store.ledger.requests({}, { limit: 1 });
    const row = rows[0]!;
    await opened(`${row.atMs}.${row.id}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Time in each stage' }).waitFor();
    await opened(row.requestId);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/panel/requests?*request_id=${row.requestId}`);
    await page.getByRole('row').nth(1).waitFor();
  });

  it('runs an action: another theme, and the preview of a reload', async () => {
    await opened('dark');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme=dark]').waitFor();
    await opened('reload the config');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Reload the config' }).waitFor();
    await page.keyboard.press('Control+k'); // a dialog that is open is not covered
    expect(await palette().count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('says where nothing is of that name', async () => {
    await opened('zzz zzz');
    await palette().getByText('Nothing of that name.').waitFor();
    await page.keyboard.press('Escape');
  });

  it('goes to a page by two letters, and focuses the search of a page', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForURL('**/panel/slots');
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.waitForURL('**/panel/keys');
    await page.keyboard.press('s'); // without `g` it is no shortcut
    expect(page.url()).to.match(/\/keys$/);
  });

  it('shows all shortcuts in a sheet, and switches those of single keys off', async () => {
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await sheet.getByText('Go to a page').waitFor();
    await shoot(page, 'shortcuts');
    expect(await violationsOf(page)).to.deep.equal([]);
    await sheet.getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    expect(page.url()).to.match(/\/keys$/);
    await opened('keyboard');
    await page.keyboard.press('Enter');
    await sheet.getByRole('checkbox').check();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.locator('#main:focus').waitFor();
  });

  it('takes no key from a field that is typed into', async () => {
    await page.goto('/panel/requests');
    const id = page.getByLabel('Request id');
    await id.click();
    await page.keyboard.type('gs?/r');
    expect(await id.inputValue()).to.equal('gs?/r');
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await page.keyboard.press('Control+k'); // also from a field
    await field().waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
    await page.locator('input:focus').waitFor();
  });

  for (const look of ['light', 'dark', 'phone'] as const)
    it(`is good to use, ${look}`, async () => {
      const other = await signedIn(look);
      await other.page.getByRole('button', { name: 'Search' }).click();
      await other.page.getByRole('dialog').getByRole('combobox').fill('e');
      await other.page.getByRole('dialog').getByRole('option').first().waitFor();
      await shoot(other.page, `palette-${look}`);
      expect(await violationsOf(other.page)).to.deep.equal([]);
      expect(await overflowOf(other.page)).to.be.at.most(0);
      expect(other.complaints).to.deep.equal([]);
      await other.close();
    });

  it('complains of nothing in the console of the browser', () => {
    expect(window.complaints).to.deep.equal([]);
  });
});
