import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { PanelClient } from '../whole/console/panel-client.js';
import { chromium, openWindow, signIn, startBrowser, violationsOf, type Window } from './browser-kit.js';

interface Holder {
  readonly name: string;
  readonly pipeline: string | null;
}

describe('the choice of a pipeline in a browser', function () {
  this.timeout(60_000);
  let under: GatewayUnderTest;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let panel: PanelClient;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    under = await startGateway({
      pipelines: [{ name: 'red' }, { name: 'blue' }],
      slots: [{ id: 'a', upstream: 'simulator' }],
    });
    panel = new PanelClient(under.url);
    browser = await startBrowser();
    window = await openWindow(browser, under.url);
    ({ page } = window);
    await signIn(page, '/panel/keys?issue=1');
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await under?.close();
  });

  const dialog = () => page.getByRole('dialog');
  const choice = () => dialog().getByLabel('Pipeline');
  const pipelineOf = async (path: string, name: string) => {
    const { data } = (await panel.get(path)) as { data: readonly Holder[] };
    return data.find((holder) => holder.name === name)?.pipeline;
  };

  it('of a new key has all pipelines, and none is chosen', async () => {
    await dialog().getByLabel('Name').fill('ci');
    const options = await choice().locator('option').allInnerTexts();
    expect(options.slice(1)).to.deep.equal(['default', 'red', 'blue']);
    expect(await choice().inputValue()).to.equal('');
    expect(await violationsOf(page)).to.deep.equal([]);
    await choice().selectOption('red');
    await dialog().getByRole('button', { name: 'Issue the key' }).click();
    await page.getByTestId('issued-key').waitFor();
    expect(await pipelineOf('/keys', 'ci')).to.equal('red');
  });

  it('of a team is kept with it, and can be taken back', async () => {
    await panel.ask('POST', '/teams', { name: 'reds', pipeline: 'blue' });
    await page.goto('/panel/teams');
    await page.getByRole('row', { name: /reds/ }).getByRole('button').first().click();
    await dialog().waitFor();
    expect(await choice().inputValue()).to.equal('blue');
    await choice().selectOption('');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await pipelineOf('/teams', 'reds')).to.equal(null);
  });

  it('complains of nothing in the console of the browser', () => {
    expect(window.complaints).to.deep.equal([]);
  });
});
