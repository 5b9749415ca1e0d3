import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { masterKey, slotAt, stages, startPair, type Pair } from '../whole/harness.js';
import { TempFolders } from '../whole/temp-folders.js';
import { chromium, shoot, signIn, startBrowser } from './browser-kit.js';
import { layoutFaultsOf } from './measure.js';
import { issueByApi } from './traffic.js';

/** As long as names may be that people give. */
function longName(of: string, nth: number): string {
  return `${of}-${nth}-of-the-department-of-very-long-names-in-the-north-east`.padEnd(60, 'x').slice(0, 60);
}

const rowCount = 200;
const nineDigits = 987_654_321;
const widths = [320, 390, 768, 1440, 1920] as const;

describe('the layout of the console with long names and large numbers', function () {
  this.timeout(120_000);
  const folders = new TempFolders();
  let pair: Pair;
  let browser: Browser;
  let page: Page;
  let rows: readonly LedgerRow[] = [];

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    const stage = `${longName('stage', 1)}.mjs`;
    const plugin = `export default { name: '${longName('stage', 1)}', setup: () => (ctx, next) => next() };`;
    const folder = await folders.make({ [stage]: plugin });
    const pipeline = [{ use: `${folder}/${stage}`, name: undefined }, ...stages()].map(
      ({ ...entry }) => entry,
    );
    pair = await startPair({ pipeline }, {}, (url) =>
      Array.from({ length: 9 }, (_, nth) =>
        slotAt(url, { id: longName('slot', nth), maxConcurrent: 100_000 }),
      ),
    );
    const limits = { tokens_per_day: nineDigits, tokens_per_month: nineDigits, usd_per_month: 999_999 };
    for (let nth = 0; nth < 3; nth += 1) {
      const team = { name: longName('team', nth), note: longName('note', nth), ...limits };
      await pair.post('/api/panel/teams', team, { 'x-api-key': masterKey });
      const token = { name: longName('token', nth), scopes: ['*'] };
      await pair.post('/api/panel/admin-tokens', token, { 'x-api-key': masterKey });
    }
    const keyIds: string[] = [];
    for (let nth = 0; nth < 9; nth += 1) {
      await issueByApi(pair, {
        name: longName('key', nth),
        note: longName('note', nth),
        models: [longName('model', nth), 'haiku-*'],
        tokens_per_minute: nineDigits,
        tokens_per_day: nineDigits,
        tokens_per_month: nineDigits,
        requests_per_minute: nineDigits,
      });
    }
    for (const { id } of await pair.gateway.services.store.keys.list()) keyIds.push(id);
    rows = Array.from({ length: rowCount }, (_, nth) => rowOf(nth, keyIds));
    await pair.gateway.services.store.ledger.append(rows);
    browser = await startBrowser();
    const context = await browser.newContext({ baseURL: pair.url, reducedMotion: 'reduce' });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await signIn(page);
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
    await folders.remove();
  });

  const pages = {
    overview: '/panel',
    'overview by key': '/panel?by=key',
    slots: '/panel/slots',
    keys: '/panel/keys',
    requests: '/panel/requests',
    'one request': '/panel/requests/',
    pipeline: '/panel/pipeline',
    connect: '/panel/connect',
    cache: '/panel/cache',
    'slots in a table': '/panel/slots?view=table',
    sessions: '/panel/sessions',
    teams: '/panel/teams',
    tokens: '/panel/tokens',
    audit: '/panel/audit',
    playground: '/panel/playground',
  };

  for (const width of widths)
    for (const [name, path] of Object.entries(pages))
      it(`is well laid out on the page "${name}" at ${width} px`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(path.endsWith('/') ? `${path}${rows[0]!.atMs}.${rows[0]!.id}` : path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        if (name.startsWith('overview')) await page.locator('canvas').nth(3).waitFor();
        if (name === 'requests') await olderRequests();
        const moreFilters = page.getByRole('button', { name: 'More filters' });
        if (name === 'audit' && (await moreFilters.isVisible())) await moreFilters.click();
        if (name === 'overview by key') await page.locator('.legend').first().getByText('1 more').waitFor();
        await shoot(page, `layout-${name.replaceAll(' ', '-')}-${width}`);
        expect(await layoutFaultsOf(page)).to.deep.equal([]);
      });

  /** The further pages of the list, until all rows are shown. */
  async function olderRequests(): Promise<void> {
    for (let shown = 50; shown < rowCount; shown += 50) {
      await page.getByRole('button', { name: 'Show older requests' }).click();
      await page
        .getByRole('row')
        .nth(shown + 1)
        .waitFor();
    }
  }
});

function rowOf(nth: number, keyIds: readonly string[]): LedgerRow {
  const hasFailed = nth % 5 === 0;
  const tokens = {
    input: nineDigits,
    cacheRead: nineDigits,
    cacheWrite5m: nineDigits,
    cacheWrite1h: nineDigits,
    output: nineDigits,
  };
  const slot = longName('slot', nth % 9);
  return {
    id: `row-${String(nth).padStart(4, '0')}`,
    atMs: Date.now() - 60_000 - nth * 300_000,
    requestId: longName('request', nth).repeat(3),
    keyId: keyIds[nth % keyIds.length]!,
    slot,
    model: longName('model', nth % 9),
    format: nth % 2 ? 'completions' : 'responses',
    pipeline: 'default',
    status: hasFailed ? 529 : 200,
    ...(hasFailed && { code: longName('overloaded', nth).replaceAll('-', '_') }),
    failed: hasFailed,
    streamed: true,
    attempts: 3,
    firstEventMs: 359_000,
    durationMs: nineDigits,
    billed: tokens,
    shown: { ...tokens, input: 1 },
    trace: {
      stages: [{ stage: longName('stage', 1), ms: nineDigits }],
      calls: [
        { slot: longName('slot', 1), ms: nineDigits, code: longName('overloaded', 1) },
        { slot, ms: nineDigits },
      ],
    },
  };
}
