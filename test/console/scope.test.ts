import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { masterKey, slotAt, startPair, type Pair } from '../whole/harness.js';
import {
  chromium,
  looks,
  openWindow,
  overflowOf,
  shoot,
  signIn,
  startBrowser,
  violationsOf,
  type Window,
} from './browser-kit.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('ranges, filters and exports of the console', function () {
  this.timeout(60_000);
  let pair: Pair;
  let browser: Browser;
  let window: Window;
  let page: Page;
  const now = Math.floor(Date.now() / hourMs) * hourMs;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    pair = await startPair({}, {}, (url) => [slotAt(url, { id: 'team-a' })]);
    await pair.gateway.services.store.ledger.append(
      Array.from({ length: 72 }, (_, nth) => rowAt(now - nth * hourMs - 5 * minuteMs, nth)),
    );
    browser = await startBrowser();
    const context = await browser.newContext({
      ...looks.light,
      baseURL: pair.url,
      reducedMotion: 'reduce',
      timezoneId: 'Asia/Kathmandu', // no whole hours from UTC
    });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    window = { page, context, complaints: [], close: () => context.close() };
    await signIn(page);
    await tile('Requests', '24').waitFor();
    return undefined;
  });
  after(async () => {
    await window?.close();
    await browser?.close();
    await pair?.close();
  });

  const tile = (name: string, value: string) =>
    page.locator('.tile', { has: page.getByRole('heading', { name, exact: true }) }).getByText(value, {
      exact: true,
    });
  const dialog = () => page.getByRole('dialog');
  const rowsShown = () => page.locator('tbody tr').count();

  it('keeps the range in the address, so that "back" undoes a choice', async () => {
    await page.getByRole('radio', { name: '7 days' }).check();
    await page.waitForURL('**/panel?range=7d');
    await tile('Requests', '72').waitFor();
    await page.getByRole('radio', { name: '1 h' }).check();
    await page.waitForURL('**/panel?range=1h');
    await page.goBack();
    await page.waitForURL('**/panel?range=7d');
    await tile('Requests', '72').waitFor();
    await page.goForward();
    await page.waitForURL('**/panel?range=1h');
  });

  it('takes two times of its own, in the time zone that it names', async () => {
    await page.getByRole('button', { name: 'Custom' }).click();
    await dialog()
      .getByText(/Asia\/Kath?mandu \(UTC\+5:45\)/)
      .waitFor();
    await dialog()
      .getByLabel('From')
      .fill(localTime(now - 10 * hourMs));
    await dialog()
      .getByLabel('To', { exact: true })
      .fill(localTime(now - 11 * hourMs));
    await dialog().getByText('The end must be after the start.').waitFor();
    await dialog()
      .getByLabel('To', { exact: true })
      .fill(localTime(now - 4 * hourMs));
    await shoot(page, 'range-dialog');
    expect(await violationsOf(page)).to.deep.equal([]);
    await dialog().getByRole('button', { name: 'Show this range' }).click();
    const iso = (ms: number) => encodeURIComponent(`${new Date(ms).toISOString().slice(0, 16)}Z`);
    await page.waitForURL(`**/panel?from=${iso(now - 10 * hourMs)}&to=${iso(now - 4 * hourMs)}`);
    await tile('Requests', '6').waitFor();
    await page.reload();
    await tile('Requests', '6').waitFor();
    await page.getByText(/Times of Asia\/Kath?mandu \(UTC/).waitFor();
  });

  it('carries range and filters from the overview to the requests and back', async () => {
    await page.getByLabel('Rows', { exact: true }).selectOption('model');
    await page.getByRole('link', { name: 'model-1' }).click();
    await page.waitForURL('**/panel/requests?from=*&to=*&model=model-1');
    await page.locator('tbody tr').first().waitFor();
    expect(await rowsShown()).to.equal(2);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.waitForURL('**/panel?from=*&to=*&model=model-1');
    await tile('Requests', '2').waitFor();
    await page.getByText('now, unfiltered').first().waitFor();
    await page.getByRole('button', { name: 'Remove the filter Model: model-1' }).click();
    await tile('Requests', '6').waitFor();
    await page.goBack();
    await tile('Requests', '2').waitFor();
  });

  it('filters by status, code, outcome and session', async () => {
    await page.goto('/panel/requests');
    await page.getByText('50 requests shown').waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Status', { exact: true }).fill('529');
    await page.waitForURL('**/panel/requests?status=529');
    await page.getByText('8 requests shown').waitFor();
    await page.getByLabel('Error code', { exact: true }).fill('overloaded');
    await page.waitForURL('**&code=overloaded');
    await page.getByText('8 requests shown').waitFor();
    await shoot(page, 'requests-filtered');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('50 requests shown').waitFor();
    await page.getByLabel('Session', { exact: true }).fill('session-3');
    await page.getByText('8 requests shown').waitFor();
    await page.getByLabel('Outcome', { exact: true }).selectOption('true');
    await page.getByRole('heading', { name: 'No request matches' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
  });

  it('filters by team, by its name', async () => {
    const response = await pair.post('/api/panel/teams', { name: 'search' }, { 'x-api-key': masterKey });
    const { id } = (await response.json()) as { readonly id: string };
    const atMs = now - 20 * 24 * hourMs;
    await pair.gateway.services.store.ledger.append([{ ...rowAt(atMs, 100), team: id }]);
    await page.goto('/panel/requests?failed=false');
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Team', { exact: true }).selectOption('search');
    await page.getByRole('button', { name: 'Remove the filter Team: search' }).waitFor();
    await page.getByText('1 request shown').waitFor();
    await page.goto(`/panel/requests/${atMs}.row-100`);
    await page.getByRole('link', { name: 'search', exact: true }).waitFor();
    await page.goto('/panel?range=30d&table=team');
    await page.locator('.breakdown-table tbody').getByRole('link', { name: 'search' }).waitFor();
    await page.goto('/panel/requests?status=529');
    await page.getByText('8 requests shown').waitFor();
  });

  it('names the field that is wrong', async () => {
    await page.getByLabel('Status', { exact: true }).fill('teapot');
    await page.getByText('status: must be a whole number').first().waitFor();
    await page.goto('/panel?from=yesterday&to=now&range=3000'); // an address that somebody has typed
    await tile('Requests', '24').waitFor();
  });

  it('hides and shows a series by its legend', async () => {
    const chart = page.getByRole('img', { name: /^Requests over/ });
    const failed = page.locator('.chart-card').first().getByRole('button', { name: 'Failed' });
    expect(await chart.getAttribute('aria-label')).to.include('Failed up to');
    await failed.click();
    expect(await failed.getAttribute('aria-pressed')).to.equal('false');
    expect(await chart.getAttribute('aria-label')).not.to.include('Failed up to');
    await failed.click();
    expect(await chart.getAttribute('aria-label')).to.include('Failed up to');
    await page.goto('/panel?by=model');
    const inAll = page.getByRole('button', { name: 'model-2', exact: true });
    await inAll.first().click();
    for (let nth = 0; nth < (await inAll.count()); nth += 1)
      expect(await inAll.nth(nth).getAttribute('aria-pressed')).to.equal('false');
    await shoot(page, 'overview-by-model-hidden');
  });

  it('sorts and searches the breakdown, and saves what it shows', async () => {
    await page.goto('/panel?table=model&sort=name');
    const names = page.locator('.breakdown-table tbody th');
    await names.first().waitFor();
    expect(await names.allInnerTexts()).to.deep.equal(['model-0', 'model-1', 'model-2']);
    await page.getByRole('columnheader', { name: 'Model' }).getByRole('button').click();
    await page.waitForURL('**sort=-name');
    expect(await names.allInnerTexts()).to.deep.equal(['model-2', 'model-1', 'model-0']);
    await page.keyboard.press('/');
    await page.keyboard.type('2');
    await page.waitForURL('**&q=2');
    expect(await saved('CSV')).to.match(
      /^name,requests,failed,input,output,cached,cost-usd,first-event\r\nmodel-2,8,/,
    );
    const [row] = JSON.parse(await saved('JSON')) as readonly Record<string, unknown>[];
    expect(row).to.include({ name: 'model-2', requests: 8, input: 80 });
  });

  it('saves the requests that it shows, and no cell is a formula', async () => {
    await page.goto('/panel/requests?model=model-0&range=24h');
    await page.getByText('8 requests shown').waitFor();
    const [head, ...lines] = (await saved('CSV')).trimEnd().split('\r\n');
    expect(head).to.match(/^time,outcome,model,/);
    expect(lines).to.have.length(8);
    expect(lines[0]).to.include("'=HYPERLINK");
  });

  it('is good to use on a phone', async () => {
    const phone = await openWindow(browser, pair.url, 'phone');
    await signIn(phone.page, '/panel/requests?model=model-0&status=529&range=7d');
    await phone.page.getByText('requests shown').waitFor();
    await phone.page.getByRole('button', { name: 'Filters', exact: true }).click();
    await phone.page.getByLabel('Status', { exact: true }).waitFor();
    await shoot(phone.page, 'requests-filtered-phone');
    expect(await overflowOf(phone.page)).to.be.at.most(0);
    expect(await violationsOf(phone.page)).to.deep.equal([]);
    await phone.close();
  });

  /** Text of the file that a button saves. */
  async function saved(button: 'CSV' | 'JSON'): Promise<string> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button }).click(),
    ]);
    return readFile(await download.path(), 'utf8');
  }
});

/** What a field for a time in Kathmandu has. */
function localTime(ms: number): string {
  return new Date(ms + 5.75 * hourMs).toISOString().slice(0, 16);
}

function rowAt(atMs: number, nth: number): LedgerRow {
  const hasFailed = nth % 9 === 0;
  const tokens = { input: 10, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5 };
  return {
    id: `row-${String(nth).padStart(3, '0')}`,
    atMs,
    requestId: `request-${nth}`,
    slot: nth === 0 ? '=HYPERLINK("http://127.0.0.1")' : 'team-a',
    model: `model-${nth % 3}`,
    format: 'messages',
    pipeline: 'default',
    session: `session-${nth % 9}`,
    status: hasFailed ? 529 : 200,
    ...(hasFailed && { code: 'overloaded' }),
    failed: hasFailed,
    streamed: true,
    attempts: 1,
    ...(!hasFailed && { firstEventMs: 100 + nth }),
    durationMs: 1000 + nth,
    billed: tokens,
    shown: tokens,
  };
}
