import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { ask, startPair, type Pair } from '../whole/harness.js';
import { callingPipeline, rowsOf } from '../whole/process/plugins/calling-stage.js';
import { TempFolders } from '../whole/temp-folders.js';
import {
  chromium,
  looks,
  openWindow,
  overflowOf,
  shoot,
  signIn,
  startBrowser,
  violationsOf,
  type Look,
} from './browser-kit.js';

describe('calls of stages in a browser', function () {
  this.timeout(120_000);
  const folders = new TempFolders();
  let browser: Browser;
  let pair: Pair;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    browser = await startBrowser();
    const code = `await host.call(ask('x'), { ctx, label: 'guard' }); await host.call(ask('y'), { ctx, label: 'topic' });`;
    pair = await startPair({ pipeline: await callingPipeline(folders, code) });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    return undefined;
  });
  after(async () => {
    await pair?.close();
    await browser?.close();
    await folders.remove();
  });

  for (const as of Object.keys(looks) as Look[])
    it(`lead from the request to each and back: ${as}`, async () => {
      const request = (await rowsOf(pair)).find(({ label }) => label === null)!;
      const { page, context, complaints } = await openWindow(browser, pair.url, as);
      const check = async (name: string): Promise<void> => {
        await shoot(page, `${name}-${as}`);
        expect(await overflowOf(page), name).to.be.at.most(0);
        expect(await violationsOf(page), name).to.deep.equal([]);
      };
      await signIn(page, `/panel/requests/${request.id}`);
      const card = page.locator('section', { has: page.getByRole('heading', { name: 'Calls by stages' }) });
      await card.getByRole('link', { name: 'topic' }).waitFor();
      await check('stage-calls');
      await card.getByRole('link', { name: 'guard' }).click();
      await page.getByRole('link', { name: 'the request of a caller' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Calls by stages' }).count()).to.equal(0);
      await check('stage-call');
      await page.getByRole('link', { name: 'the request of a caller' }).click();
      await card.getByRole('link', { name: 'topic' }).waitFor();
      await page.goto('/panel/requests?label=guard');
      await page.getByText('1 request shown').waitFor();
      await page.getByText('· guard').waitFor();
      await check('stage-call-list');
      expect(complaints).to.deep.equal([]);
      await context.close();
    });
});
