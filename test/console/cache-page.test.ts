import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { startPair, type Pair } from '../whole/harness.js';
import { chromium, openWindow, signIn, startBrowser, type Window } from './browser-kit.js';

describe('the cache page of the console', function () {
  this.timeout(60_000);
  let pair: Pair;
  let browser: Browser;
  let window: Window;

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    pair = await startPair();
    await pair.gateway.services.store.ledger.append([
      rowOf('free', {
        cost: { billed: 0, shown: 0 },
        cache: { cause: 'expired', lostTokens: 9, lostCost: 0 },
      }),
      rowOf('unpriced', { cache: { cause: 'slot_moved', lostTokens: 8 } }),
      rowOf('priced', {
        cost: { billed: 5_000_000_000, shown: 5_000_000_000 },
        cache: { cause: 'provider', lostTokens: 7, lostCost: 2_500_000_000 },
      }),
      rowOf('cold', { slot: 'cold', billed: { ...tokens, cacheRead: 0 } }),
    ]);
    browser = await startBrowser();
    window = await openWindow(browser, pair.url);
    await signIn(window.page, '/panel/cache');
    return undefined;
  });
  after(async () => {
    await window?.close();
    await browser?.close();
    await pair?.close();
  });

  it('has the cost of each cause: 0 for models that cost nothing, unknown for those without a price', async () => {
    const { page } = window;
    await page.goto('/panel/cache');
    await page.locator('table.causes tbody tr').first().waitFor();
    expect(await costs(page)).to.deep.equal(['$0.00', 'unknown', '$2.50']);
    expect(window.complaints).to.deep.equal([]);
  });

  it('has a hit ratio of 0 % for input without cache reads', async () => {
    const { page } = window;
    await page.goto('/panel/cache?by=slot');
    await hoverLast(page);
    expect(await page.locator('.chart-tip .name').allInnerTexts()).to.have.members(['none', 'cold']);
    const cold = page.locator('.chart-tip p').filter({ hasText: 'cold' });
    expect(await cold.locator('b').innerText()).to.equal('0 %');
    expect(window.complaints).to.deep.equal([]);
  });

  it('says that its chart did not load, as after an upgrade, and is reloaded', async () => {
    const { page } = window;
    const script = /\/assets\/plot-[^/]+\.js$/;
    await page.route(script, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto('/panel/cache');
    const problem = page.locator('.chart-card').getByRole('alert');
    await problem.waitFor();
    expect(await problem.innerText()).to.include('A part of this page did not load');
    await page.unroute(script);
    await problem.getByRole('button', { name: 'Reload the page' }).click();
    await page.locator('.chart canvas').waitFor();
    expect(await problem.count()).to.equal(0);
    expect(window.complaints).to.deep.equal([]);
  });
});

/** Points at the last time of the chart. */
async function hoverLast(page: Page): Promise<void> {
  const area = page.locator('.chart .u-over');
  const { width } = (await area.boundingBox())!;
  await area.hover({ position: { x: width - 3, y: 60 } });
  await page.locator('.chart-tip').waitFor();
}

/** Costs of the causes, the one with most tokens first. */
function costs(page: Page): Promise<readonly string[]> {
  return page.locator('table.causes tbody tr td:nth-of-type(3)').allInnerTexts();
}

const tokens = { input: 10, cacheRead: 5, cacheWrite5m: 0, cacheWrite1h: 0, output: 5 };

function rowOf(id: string, fields: Partial<LedgerRow>): LedgerRow {
  return {
    id,
    atMs: Date.now() - 1000,
    requestId: id,
    format: 'messages',
    pipeline: 'default',
    status: 200,
    failed: false,
    streamed: true,
    attempts: 1,
    durationMs: 90,
    billed: tokens,
    shown: tokens,
    ...fields,
  };
}
