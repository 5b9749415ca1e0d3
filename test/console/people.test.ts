import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startOpenIdProvider, type OpenIdProvider } from '../whole/console/people/openid-provider.js';
import { freePort, startWithProvider, type WithProvider } from '../whole/console/people/sign-in.js';
import { masterKey } from '../whole/harness.js';
import { issueKey } from '../whole/kit.js';
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

describe('people in a browser', function () {
  this.timeout(60_000);
  let provider: OpenIdProvider;
  let under: WithProvider;
  let browser: Browser;
  const windows: Window[] = [];

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    const port = await freePort();
    provider = await startOpenIdProvider(`http://127.0.0.1:${port}`, {
      ada: { groups: ['ops'] },
      vera: { groups: ['staff'] },
      eve: { groups: [] },
    });
    under = await startWithProvider(port, provider.issuer, { label: 'Example' });
    await issueKey(under, 'ci');
    browser = await startBrowser();
    return undefined;
  });
  after(async () => {
    await Promise.all(windows.map((window) => window.close()));
    await browser?.close();
    await under?.close();
    await provider?.close();
  });

  const open = async (path: string, look: Look = 'light'): Promise<Window> => {
    const window = await openWindow(browser, under.url, look);
    windows.push(window);
    // The provider's forms for developers ask for a font of elsewhere.
    await window.context.route(/^https?:\/\/(?!127\.0\.0\.1[:/])/, (route) => route.fulfill({ body: '' }));
    await window.page.goto(path);
    return window;
  };
  const atProvider = async (page: Page, person: string): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in with Example' }).click();
    await page.getByPlaceholder('Enter any login').fill(person);
    await page.getByPlaceholder('and password').fill('x');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  const isGood = async ({ page, complaints }: Window, name: string): Promise<void> => {
    await shoot(page, name);
    expect(await overflowOf(page), name).to.be.at.most(0);
    expect(await violationsOf(page), name).to.deep.equal([]);
    const own = complaints.filter((each) => !each.includes(provider.issuer) && !each.includes('fonts.'));
    expect(own, name).to.deep.equal([]);
  };

  it('find both ways to sign in, in every look', async () => {
    for (const look of Object.keys(looks) as Look[]) {
      const window = await open('/panel/login', look);
      await window.page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
      await isGood(window, `login-${look}`);
    }
  });

  it('sign in at the provider, are back where they were, and see who they are', async () => {
    const window = await open('/panel/keys?sort=name');
    await atProvider(window.page, 'ada');
    await window.page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    expect(window.page.url()).to.equal(`${under.url}/panel/keys?sort=name`);
    expect(await window.page.locator('.signed-in-as').textContent()).to.equal('ada@example.comadmin');
    expect(await window.page.getByRole('button', { name: 'Issue a key' }).isEnabled()).to.equal(true);
    await isGood(window, 'signed-in-admin');
  });

  it('sign out at the provider too, which leads back to the login', async () => {
    const { page } = await open('/panel');
    await atProvider(page, 'ada');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    expect(page.url())
      .to.match(/^http:\/\/127\.0\.0\.1:\d+\/panel/)
      .and.include(under.url);
  });

  it('are told who may not come in', async () => {
    const window = await open('/panel');
    await atProvider(window.page, 'eve');
    await window.page.getByText('none of your groups may use this console').waitFor();
    await isGood(window, 'refused');
  });

  it('as viewers find every control that changes something disabled, with the reason', async () => {
    const window = await open('/panel/keys');
    const { page } = window;
    await atProvider(page, 'vera');
    const issue = page.getByRole('button', { name: 'Issue a key' }).first();
    await issue.waitFor();
    expect(await issue.isDisabled()).to.equal(true);
    expect(await issue.getAttribute('title')).to.include('Only admins');
    for (const name of ['Edit ci', 'Revoke ci'])
      expect(await page.getByRole('button', { name }).isDisabled(), name).to.equal(true);
    await isGood(window, 'viewer-keys');
    await page.goto('/panel/slots');
    for (const name of ['Pause', 'Drain', 'Diagnose', 'Add a slot']) {
      const button = page.getByRole('button', { name }).first();
      await button.waitFor();
      expect(await button.isDisabled(), name).to.equal(true);
    }
    await page.goto('/panel/pipeline?reload=1');
    const reload = page.getByRole('dialog').getByRole('button', { name: 'Reload', exact: true });
    await reload.waitFor();
    expect(await reload.isDisabled()).to.equal(true);
    await page.goto('/panel/explain');
    await page.getByText('shown to admins alone').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('heading', { name: 'Told to the caller' }).waitFor();
    await isGood(window, 'viewer-explain');
    const phone = await open('/panel/slots', 'phone');
    await atProvider(phone.page, 'vera');
    await phone.page.locator('.signed-in-as .badge').waitFor();
    await isGood(phone, 'viewer-phone');
  });

  it('see who is signed in, and end sessions, in every look', async () => {
    for (const look of Object.keys(looks) as Look[]) {
      const window = await open('/panel/sessions', look);
      const { page } = window;
      await page.getByLabel('Password').fill(masterKey);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('this browser').waitFor();
      await page.getByText('vera@example.com').first().waitFor();
      await isGood(window, `sessions-${look}`);
    }
    const { page } = await open('/panel/sessions');
    await page.getByLabel('Password').fill(masterKey);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'End the session of vera@example.com' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText('The session of vera@example.com was ended.').waitFor();
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText('sessions have ended.').waitFor();
    expect(await under.gateway.services.store.sessions.list()).to.have.length(1);
  });
});
