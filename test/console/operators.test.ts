import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { aViewer, anAdmin, sessionOf, withOidc } from '../whole/console/console-login.js';
import { startGateway, type GatewayUnderTest } from '../whole/harness.js';
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
  type Window,
} from './browser-kit.js';

describe('admin tokens and the audit log in a browser', function () {
  this.timeout(60_000);
  let under: GatewayUnderTest;
  let panel: PanelClient;
  let browser: Browser;
  const windows: Window[] = [];

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    browser = await startBrowser();
    return undefined;
  });
  beforeEach(async () => {
    under = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }], ...withOidc });
    panel = new PanelClient(under.url);
  });
  afterEach(async () => {
    await Promise.all(windows.splice(0).map((window) => window.close()));
    await under.close();
  });
  after(() => browser?.close());

  const open = async (path: string, look: Look = 'light', actor = anAdmin): Promise<Window> => {
    const window = await openWindow(browser, under.url, look);
    windows.push(window);
    const { cookie } = await sessionOf(under, actor);
    const cookies = cookie.split('; ').map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return { name, value, url: under.url };
    });
    await window.context.addCookies(cookies);
    await window.page.goto(path);
    return window;
  };
  const isGood = async ({ page, complaints }: Window, name: string): Promise<void> => {
    await shoot(page, name);
    expect(await overflowOf(page), name).to.be.at.most(0);
    expect(await violationsOf(page), name).to.deep.equal([]);
    expect(complaints, name).to.deep.equal([]);
  };

  for (const look of Object.keys(looks) as Look[])
    it(`issue a token that is shown once, revoke it, and delete it (${look})`, async () => {
      const window = await open('/panel/tokens', look);
      const { page } = window;
      await page.getByRole('button', { name: 'Issue the first token' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Name' }).fill('prometheus');
      await dialog.getByRole('checkbox', { name: /^metrics/ }).check();
      await dialog.getByRole('checkbox', { name: /^slots:read/ }).check();
      await isGood(window, `tokens-form-${look}`);
      await dialog.getByRole('button', { name: 'Issue the token' }).click();
      const token = (await page.getByTestId('issued-token').textContent())!;
      expect(token).to.match(/^gw-adm-[\w-]{43}$/);
      await isGood(window, `tokens-issued-${look}`);
      expect((await under.get('/admin/slots', { 'x-api-key': token })).status).to.equal(200);
      await dialog.getByRole('button', { name: 'I have it' }).click();
      await page.getByText('metrics, slots:read').waitFor();
      await page.getByText('Active').waitFor();
      expect(await page.content()).to.not.include(token);
      await isGood(window, `tokens-${look}`);
      await page.getByRole('button', { name: 'Revoke prometheus' }).click();
      await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
      await page.getByText('Revoked', { exact: true }).waitFor();
      expect((await under.get('/admin/slots', { 'x-api-key': token })).status).to.equal(401);
      await page.getByRole('button', { name: 'Delete prometheus' }).click();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('No admin tokens yet').waitFor();
    });

  it('say what is wrong with a token that cannot be issued', async () => {
    await panel.ask('POST', '/admin-tokens', { name: 'ci', scopes: ['*'] });
    const { page } = await open('/panel/tokens');
    await page.getByRole('button', { name: 'Issue a token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('ci');
    await page.getByRole('checkbox', { name: /^\*/ }).check();
    expect(await page.getByRole('checkbox', { name: /^metrics/ }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Issue the token' }).click();
    await page.getByText('An admin token "ci" already exists').waitFor();
  });

  it('are no tokens for viewers, who are told so', async () => {
    await panel.ask('POST', '/admin-tokens', { name: 'ci', scopes: ['*'] });
    const window = await open('/panel/tokens', 'light', aViewer);
    await window.page.getByText('Only admins may see this').first().waitFor();
    expect(await window.page.content()).to.not.include('gw-adm-');
    expect(await window.page.getByRole('button', { name: 'Issue a token' }).isDisabled()).to.equal(true);
    await isGood(window, 'tokens-viewer');
  });

  for (const look of Object.keys(looks) as Look[])
    it(`has what was done and what was refused, and each change in full (${look})`, async () => {
      const { id } = await panel.ask('POST', '/keys', { name: '<b>laptop</b>' });
      await panel.ask('PATCH', `/keys/${id}`, { tokens_per_day: 5000 });
      await panel.fetch('POST', '/slots/none/pause');
      await new PanelClient(under.url, {}).fetch('POST', '/login', { password: 'wrong' });
      const window = await open('/panel/audit', look, aViewer);
      const { page } = window;
      for (const text of ['key.create', 'key.update', 'slot.pause', 'session.login', 'not_found'])
        await page.getByText(text, { exact: true }).first().waitFor();
      expect(await page.getByText('<b>laptop</b>').count()).to.equal(2);
      const filters = page.getByRole('search', { name: 'Filters' });
      const target = filters.getByRole('searchbox', { name: 'Target' });
      if (look === 'phone') expect(await target.isVisible()).to.equal(false);
      else expect((await filters.boundingBox())!.height, 'two rows').to.be.below(150);
      await isGood(window, `audit-${look}`);
      if (look === 'phone') await filters.getByRole('button', { name: 'More filters' }).click();
      await target.waitFor();
      await page.locator('.audit-open').nth(2).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('heading', { name: 'key.update <b>laptop</b>' }).waitFor();
      expect(await dialog.innerText())
        .to.include('tokens_per_day')
        .and.include('5000');
      await isGood(window, `audit-entry-${look}`);
    });

  it('is filtered by the URL, page by page, and leaves as a file', async () => {
    for (let nth = 0; nth < 60; nth += 1) await panel.ask('POST', `/slots/a/${nth % 2 ? 'resume' : 'pause'}`);
    await panel.ask('POST', '/keys', { name: 'laptop' });
    const window = await open('/panel/audit?action=slot.*');
    const { page } = window;
    const rows = page.locator('.audit-open');
    await rows.first().waitFor();
    expect(await rows.count()).to.equal(50);
    expect(await page.getByText('key.create').count()).to.equal(0);
    await page.getByRole('button', { name: 'Show older entries' }).click();
    await rows.nth(59).waitFor();
    expect(await rows.count()).to.equal(60);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).to.equal('audit.csv');
    await page.getByRole('searchbox', { name: 'Who' }).fill('nobody');
    await page.getByText('No entry matches').waitFor();
    expect(page.url()).to.include('actor=nobody').and.include('action=slot');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('key.create').first().waitFor();
    expect(page.url()).to.equal(`${under.url}/panel/audit`);
    await isGood(window, 'audit-cleared');
  });
});
