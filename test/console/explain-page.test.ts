import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { ask, type Pair } from '../whole/harness.js';
import { only, startTeam } from '../whole/kit.js';
import {
  chromium,
  openWindow,
  overflowOf,
  shoot,
  signIn,
  startBrowser,
  violationsOf,
  type Look,
} from './browser-kit.js';

describe('the page that explains a request', function () {
  this.timeout(120_000);
  let team: Pair;
  let browser: Browser;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    team = await startTeam();
    team.simulator.faults.push(only('a', '429 retry-after=600'));
    await (await team.post('/v1/messages', ask('hi'))).text();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await team?.close();
  });

  for (const look of ['light', 'dark', 'phone'] as const satisfies readonly Look[])
    it(`shows stages, slots and the answer, and fits its window (${look})`, async () => {
      const window = await openWindow(browser, team.url, look);
      const { page } = window;
      await signIn(page);
      if (look === 'phone') await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('link', { name: 'Explain' }).click();
      await page.getByLabel('Format').selectOption('/v1/chat/completions');
      const body = { model: 'sonnet-5', logit_bias: { 5: 1 }, messages: [{ role: 'user', content: 'hi' }] };
      await page.getByLabel('Request body').fill(JSON.stringify(body));
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByRole('heading', { name: 'Stages' }).waitFor();
      const text = await page.locator('.explained').innerText();
      expect(text).to.match(/cooling down, rate_limited until/);
      expect(text).to.include('logit_bias');
      expect(text).to.include('persona-inject');
      expect(await overflowOf(page)).to.be.at.most(0);
      expect(await violationsOf(page)).to.deep.equal([]);
      expect(window.complaints).to.deep.equal([]);
      await shoot(page, `explain-${look}`);
      await window.close();
    });

  it('begins with the format, the model and the key of a request from the list', async () => {
    const window = await openWindow(browser, team.url);
    const { page } = window;
    await signIn(page, '/panel/explain?format=chat&model=haiku-4-5');
    await page.getByLabel('Request body').waitFor();
    expect(await page.getByLabel('Format').inputValue()).to.equal('/v1/chat/completions');
    expect(await page.getByLabel('Request body').inputValue()).to.include('haiku-4-5');
    await window.close();
  });

  it('shows the words of an error, and can be asked again', async () => {
    const window = await openWindow(browser, team.url);
    const { page } = window;
    await signIn(page, '/panel/explain');
    await page.getByLabel('Request body').fill('{"model": 5');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('invalid_json').first().waitFor();
    await window.close();
  });
});
