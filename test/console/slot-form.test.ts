import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { slotAt, startPair, type Pair } from '../whole/harness.js';
import { PanelClient, type Answer } from '../whole/console/panel-client.js';
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
  type Window,
} from './browser-kit.js';

const upstream = `export default {
  name: 'provider',
  needs: ['account'],
  options: {
    type: 'object',
    title: 'My provider',
    required: ['region'],
    properties: {
      region: { type: 'string', pattern: '^[a-z]{4,}$', description: 'Where the provider runs.' },
      token: { type: 'string', secret: true },
      mode: { enum: ['fast', 'careful'], default: 'fast' },
      size: { type: 'integer', default: 3 },
      tags: { type: 'array', items: { type: 'string' } },
      names: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
      capabilities: { type: 'object', properties: { tools: { type: 'boolean', default: true } } },
      endpoint: { type: 'string' },
      certificateFile: { type: 'string', local: true },
    },
  },
  open: () => ({ generate: () => Promise.reject(new Error('no')), close: async () => {} }),
};
`;

describe('the slot form of a kind that a plugin brings', function () {
  this.timeout(60_000);
  const folders = new TempFolders();
  let pair: Pair;
  let panel: PanelClient;
  let browser: Browser;
  let windows: ReadonlyMap<Look, Window>;
  let page: Page;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    const baseDir = await folders.make({ 'provider.mjs': upstream });
    const mine = { upstream: './provider.mjs', with: { region: 'east' }, account: { kind: 'none' } };
    const slots = (url: string) => [slotAt(url), { id: 'own', ...mine }];
    const secretKey = randomBytes(32).toString('base64');
    pair = await startPair({ store: 'memory' }, {}, slots, { baseDir, secretKey });
    panel = new PanelClient(pair.url);
    browser = await startBrowser();
    const names = Object.keys(looks) as Look[];
    const opened = names.map(async (look) => [look, await signedIn(look)] as const);
    windows = new Map(await Promise.all(opened));
    ({ page } = windows.get('light')!);
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
    await folders.remove();
  });

  async function signedIn(look: Look): Promise<Window> {
    const opened = await openWindow(browser, pair.url, look);
    await signIn(opened.page, '/panel/slots');
    await opened.page.getByRole('button', { name: 'Add a slot' }).waitFor();
    return opened;
  }

  const field = (label: string, on = page) => on.getByRole('dialog').getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  const settings = async (): Promise<Answer> =>
    (await panel.get('/slots')).data.find(({ id }: Answer) => id === 'mine').settings;
  const stored = async () => (await pair.gateway.services.store.slots.get('mine'))!;

  it('shows a problem beside its field, and keeps what has been typed', async () => {
    await page.getByRole('button', { name: 'Add a slot' }).click();
    await field('Kind').selectOption('./provider.mjs');
    await field('Kind of account').selectOption('none');
    await field('Name of the slot').fill('mine');
    await field('Region').fill('eu');
    await field('Token').fill('SECRET-1');
    await press('Add the slot');
    await page.getByText('A field above says why.').waitFor();
    expect(await field('Region').getAttribute('aria-invalid')).to.equal('true');
    const described = await field('Region').getAttribute('aria-describedby');
    const [errorId = ''] = (described ?? '').split(' ');
    expect(await page.locator(`[id="${errorId}"]`).textContent()).to.match(/^must /);
    await shoot(page, 'slot-form-problem');
  });

  it('writes each option as its schema has it', async () => {
    await field('Region').fill('west');
    await page.getByText('Options of this upstream').click();
    await field('Mode').selectOption('"careful"');
    await field('Size').fill('7');
    await field('Tags').fill('one, two');
    await field('Names').fill('a: b: c\nd: e');
    await field('Capabilities: tools').selectOption('false');
    expect(await page.getByText('certificateFile').count()).to.equal(1); // only in the hint
    await press('Add the slot');
    await page.getByRole('article', { name: 'Slot mine' }).waitFor();
    expect((await stored()).settings['with']).to.deep.equal({
      region: 'west',
      token: 'SECRET-1',
      mode: 'careful',
      size: 7,
      tags: ['one', 'two'],
      names: { a: 'b: c', d: 'e' },
      capabilities: { tools: false },
    });
    expect((await settings()).account).to.deep.equal({ kind: 'none' });
  });

  it('shows no secret, and keeps one that is not typed again', async () => {
    await page.getByRole('button', { name: 'Edit mine' }).click();
    expect(await field('Token').inputValue()).to.equal('');
    expect(await field('Size').inputValue()).to.equal('7');
    await field('Size').fill('');
    await field('Names').fill('d: f');
    await field('Capabilities: tools').selectOption('');
    await press('Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await stored()).settings['with']).to.deep.equal({
      region: 'west',
      token: 'SECRET-1',
      mode: 'careful',
      tags: ['one', 'two'],
      names: { d: 'f' },
    });
  });

  it('asks for a secret again where it would go to another place', async () => {
    await page.getByRole('button', { name: 'Edit mine' }).click();
    expect(await field('Token').getAttribute('placeholder')).to.equal('unchanged');
    await field('Endpoint').fill('https://other.example');
    expect(await field('Token').getAttribute('placeholder')).not.to.equal('unchanged');
    await press('Save');
    await page.getByRole('alert').waitFor();
    await field('Token').fill('SECRET-2');
    await press('Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await stored()).settings['with']).to.include({
      token: 'SECRET-2',
      endpoint: 'https://other.example',
    });
  });

  it('changes to another kind, without the options of the old one', async () => {
    await page.getByRole('button', { name: 'Edit mine' }).click();
    await field('Kind').selectOption('messages');
    expect(await field('Kind of account').inputValue()).to.equal('api-key');
    await field('Base URL').fill(pair.simulator.url);
    await field('Key').fill('upstream-key-a');
    await press('Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { settings: now, account } = await stored();
    expect(now)
      .to.include({ upstream: 'messages', baseUrl: pair.simulator.url })
      .and.not.have.property('with');
    expect(account).to.deep.equal({ kind: 'api-key', key: 'upstream-key-a' });
  });

  for (const look of Object.keys(looks) as Look[])
    it(`is good to use, ${look}`, async () => {
      const { page: on, complaints } = windows.get(look)!;
      await on.goto('/panel/slots');
      await on.getByRole('button', { name: 'Add a slot' }).click();
      await field('Kind', on).selectOption('./provider.mjs');
      await field('Kind of account', on).selectOption('oauth');
      await on.getByText('Options of this upstream').click();
      await shoot(on, `slot-form-of-a-plugin-${look}`);
      expect(await overflowOf(on), 'overflow').to.be.at.most(0);
      expect(await violationsOf(on)).to.deep.equal([]);
      expect(complaints).to.deep.equal([]);
    });
});
