import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { clockAt } from '../clock-at.js';
import { ask, slotAt, startPair, type Pair } from '../whole/harness.js';
import { issueKey } from '../whole/kit.js';
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

const looks = ['light', 'dark', 'phone'] as const;
const minuteMs = 60_000;

describe('the pages of slots and of the playground', function () {
  this.timeout(60_000);
  let pair: Pair;
  let browser: Browser;
  let windows: ReadonlyMap<(typeof looks)[number], Window>;
  let page: Page;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    pair = await startPair({}, { clock: clockAt(inMidWindow()) }, (url) => [
      slotAt(url, { id: 'team-a' }),
      slotAt(url, { id: 'team-b', account: { kind: 'api-key', key: 'upstream-key-b' }, maxConcurrent: 8 }),
    ]);
    await issueKey(pair, 'laptop');
    await pair.post('/api/panel/slots/team-b/pause', {});
    await useWindows(pair);
    browser = await startBrowser();
    const opened = looks.map(async (look) => [look, await signedIn(look)] as const);
    windows = new Map(await Promise.all(opened));
    ({ page } = windows.get('light')!);
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
  });

  async function signedIn(look: (typeof looks)[number]): Promise<Window> {
    const window = await openWindow(browser, pair.url, look);
    await signIn(window.page);
    return window;
  }

  async function isGood(on: Page, name: string): Promise<void> {
    await shoot(on, name);
    expect(await overflowOf(on), name).to.be.at.most(0);
    expect(await violationsOf(on), name).to.deep.equal([]);
  }

  for (const look of looks)
    it(`tell when a window is full, and only where a slot has windows, ${look}`, async () => {
      const on = windows.get(look)!.page;
      await on.goto('/panel/slots');
      const used = on.getByRole('article', { name: 'Slot team-a' });
      await used.getByText(/^Full at about .*\d\d:\d\d/).waitFor();
      await used.getByText(/^Not full before it resets/).waitFor();
      expect(await on.getByRole('article', { name: 'Slot team-b' }).getByText('window').count()).to.equal(0);
      await isGood(on, `slots-forecast-${look}`);
    });

  for (const look of looks)
    it(`show slots in a table, and the history of one, ${look}`, async () => {
      const on = windows.get(look)!.page;
      await on.goto('/panel/slots');
      await on.getByRole('radio', { name: 'Table' }).check();
      await on.waitForURL('**/panel/slots?view=table');
      await on.getByRole('table', { name: 'Slots' }).waitFor();
      await isGood(on, `slots-table-${look}`);
      await on.goto('/panel/slots');
      await on.getByRole('article', { name: 'Slot team-b' }).getByRole('button', { name: 'History' }).click();
      await on.getByRole('dialog').getByRole('img').waitFor();
      await on.getByRole('dialog').getByText('Paused').first().waitFor();
      await isGood(on, `slot-history-${look}`);
    });

  it('sort and search the table by the URL', async () => {
    await page.goto('/panel/slots?view=table&sort=-slot');
    const first = () => page.getByRole('row').nth(1).innerText();
    await page.getByRole('row').nth(2).waitFor();
    expect(await first()).to.include('team-b');
    await page.getByRole('button', { name: 'Slot', exact: true }).click();
    await page.waitForURL('**sort=slot');
    expect(await first()).to.include('team-a');
    await page.getByRole('searchbox', { name: 'Search slots' }).fill('paused');
    await page.waitForURL('**q=paused**');
    expect(await first()).to.include('team-b');
    expect(await page.getByRole('row').count()).to.equal(2);
  });

  for (const look of looks)
    it(`run a request as a key, ${look}`, async () => {
      const on = windows.get(look)!.page;
      await on.goto('/panel/playground');
      await on.getByLabel('Key').selectOption('laptop');
      await on.getByRole('button', { name: 'Run' }).click();
      await on.getByText('Open it in the ledger').waitFor();
      await on.getByText('slot-pick').waitFor();
      expect(await on.getByLabel('Answer', { exact: true }).innerText()).to.not.include('event:');
      await isGood(on, `playground-${look}`);
      await on.getByText('Open it in the ledger').click();
      await on.getByText('laptop').first().waitFor();
    });

  it('show why a request was refused', async () => {
    await page.goto('/panel/playground');
    await page.getByLabel('Request body').fill('{"model":"nobody","messages":[]}');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/^4\d\d$/).waitFor();
    await shoot(page, 'playground-refused');
  });

  it('export the last error of a slot, and its time', async () => {
    pair.simulator.faults.push('500');
    expect((await pair.post('/v1/messages', ask('Hi'))).status).to.be.at.least(500);
    await page.goto('/panel/slots?view=table');
    await page.getByRole('table', { name: 'Slots' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('group', { name: 'Export' }).getByRole('button', { name: 'JSON' }).click(),
    ]);
    const rows = (await json(await download.createReadStream())) as readonly ExportedSlot[];
    const { last_error: error, last_error_at: at } = rows.find((row) => row.slot === 'team-a')!;
    expect(error).to.equal('Internal server error');
    expect(Date.parse(at ?? ''))
      .to.be.a('number')
      .and.to.not.equal(Number.NaN);
    expect(rows.find((row) => row.slot === 'team-b')).to.include({ last_error: null, last_error_at: null });
  });
});

interface ExportedSlot {
  readonly slot: string;
  readonly last_error: string | null;
  readonly last_error_at: string | null;
}

/** Clock that is behind by so much that the window of 5 h is half over, or it could reset before it is full. */
function inMidWindow(): () => number {
  const window = 5 * 60 * minuteMs;
  const behindMs = (Date.now() + window / 2) % window;
  return () => Date.now() - behindMs;
}

/** Slot team-a has used its windows for two hours, evenly; its upstream says so with a last request. */
async function useWindows(pair: Pair): Promise<void> {
  const text = 'Hi. [[sim:windows 5h=0.62 7d=0.05 for=upstream-key-a]]';
  for (let turn = 0; turn < 4; turn += 1) await (await pair.post('/v1/messages', ask(text))).text();
  const { slots, store, now } = pair.gateway.services;
  const { windows } = slots.list().find(({ id }) => id === 'team-a')!;
  for (const [name, hours] of [
    ['5h', 2],
    ['7d', 20],
  ] as const) {
    const window = windows[name]!;
    const samples = Array.from({ length: 40 }, (_, at) => ({
      slot: 'team-a',
      window: name,
      atMs: now() - ((40 - at) / 40) * hours * 60 * minuteMs,
      percentUsed: (window.percentUsed * at) / 40,
      resetsAtMs: window.resetsAtMs,
    }));
    await store.slotHistory.sample(samples);
  }
}
