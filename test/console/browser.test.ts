import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { slotAt, stages, startPair, masterKey, type Pair } from '../whole/harness.js';
import {
  chromium,
  openWindow,
  overflowOf,
  shoot,
  startBrowser,
  violationsOf,
  type Look,
  type Window,
} from './browser-kit.js';
import { askInEachFormat, bodyOf, Clock, issueByApi, workForADay } from './traffic.js';
import { clockAt } from '../clock-at.js';

const pages = {
  overview: '/panel',
  slots: '/panel/slots',
  keys: '/panel/keys',
  requests: '/panel/requests',
  pipeline: '/panel/pipeline',
  connect: '/panel/connect',
} as const;

const toolChoices = [
  { use: 'tool-choice', name: 'streamed-tool-choice', when: { stream: true, not: { caller: 'team-*' } } },
  { use: 'tool-choice' },
];

describe('the console in a browser', function () {
  this.timeout(60_000);
  let pair: Pair;
  let browser: Browser;
  let window: Window;
  let page: Page;
  const clock = new Clock();

  before(async function () {
    if (!chromium) return this.skip(); // set GW_TEST_CHROMIUM to a Chromium
    const pipeline = stages().map((stage) =>
      (stage as { use: string }).use === 'tool-choice' ? { oneOf: toolChoices } : stage,
    );
    pair = await startPair({ pipeline }, { clock: clockAt(clock.now) }, (url) => [
      slotAt(url, { id: 'team-a' }),
      slotAt(url, { id: 'team-b', account: { kind: 'api-key', key: 'upstream-key-b' }, maxConcurrent: 8 }),
    ]);
    browser = await startBrowser();
    window = await openWindow(browser, pair.url);
    ({ page } = window);
    return undefined;
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await shoot(page, `failed-${this.currentTest.title}`);
  });
  after(async () => {
    await browser?.close();
    await pair?.close();
  });

  async function signIn(on: Page): Promise<void> {
    await on.getByLabel('Password').fill(masterKey);
    await on.getByRole('button', { name: 'Sign in' }).click();
    await on.getByRole('navigation', { name: 'Pages' }).waitFor();
  }

  const dialog = () => page.getByRole('dialog');
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });

  it('leads whoever is not signed in to the login, and says what is wrong with a password', async () => {
    await page.goto('/panel/keys');
    await page.waitForURL('**/panel/login?next=%2Fkeys');
    await page.getByLabel('Password').fill('not-the-password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await shoot(page, 'login-wrong');
  });

  it('brings whoever signs in to where they were going', async () => {
    await signIn(page);
    await page.waitForURL('**/panel/keys');
    expect(await page.title()).to.equal('Keys · gw2api');
  });

  it('says what to do where there is nothing yet', async () => {
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    await shoot(page, 'empty-keys');
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
    await shoot(page, 'empty-requests');
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('heading', { name: 'No requests in this time' }).waitFor();
    await shoot(page, 'empty-overview');
  });

  let issued: string;

  it('issues a key and shows it once', async () => {
    await page.goto('/panel/keys?issue=1');
    await dialog().getByLabel('Name').fill('browser-test');
    await dialog().getByLabel('Requests a minute').fill('600');
    await shoot(page, 'issue-key');
    let sent = 0;
    page.on('request', (request) => (sent += Number(request.method() === 'POST')));
    const button = dialog().getByRole('button', { name: 'Issue the key' });
    await button.evaluate((element: { click(): void }) => {
      element.click();
      element.click(); // in the same tick
    });
    issued = await page.getByTestId('issued-key').innerText();
    expect(issued).to.match(/^sk-gw-.{20,}$/);
    expect(sent).to.equal(1);
    await shoot(page, 'issued-key');
    await dialog().getByRole('link', { name: 'Snippets with this key' }).click();
    await page.getByText(`authorization: Bearer ${issued}`).first().waitFor();
    await page.reload();
    await page
      .getByText('YOUR_KEY')
      .or(page.getByText(`sk-gw-…${issued.slice(-4)}`))
      .first()
      .waitFor();
    expect(await page.content()).not.to.include(issued);
  });

  it('shows the requests made with it as they end, in all four formats', async () => {
    await page.goto('/panel/requests');
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await askInEachFormat(pair, issued)).to.deep.equal([200, 200, 200, 200]);
    await row('browser-test').nth(3).waitFor();
    for (const format of ['Messages', 'Chat', 'Responses', 'Completions'])
      await row('browser-test').filter({ hasText: format }).first().waitFor();
  });

  it('stands them in the order of the times that it shows, each with its date', async () => {
    const slow = bodyOf('/v1/messages', 'haiku-5', 'Slowly. [[sim:tokens n=30]][[sim:slow ms=20]]');
    const quick = bodyOf('/v1/messages', 'sonnet-5-5', 'Hello!');
    const began = pair.post('/v1/messages', slow, { 'x-api-key': issued });
    await (await pair.post('/v1/messages', quick, { 'x-api-key': issued })).text();
    await row('sonnet-5-5').first().waitFor();
    await (await began).text();
    await row('haiku-5').first().waitFor();
    const times = await page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('tbody time')].map((cell) => cell.dateTime)",
    );
    expect(times).to.deep.equal(times.toSorted().toReversed());
    expect(await page.locator('tbody time').first().innerText()).to.match(/^\d+ \w+ \d\d:\d\d:\d\d$/);
  });

  it('narrows them by what stands in the address', async () => {
    await page.getByLabel('Format').selectOption('chat');
    await page.waitForURL('**/panel/requests?format=chat');
    await row('browser-test').nth(1).waitFor({ state: 'detached' });
    await row('Chat').first().waitFor();
    await page.reload();
    expect(await page.getByLabel('Format', { exact: true }).inputValue()).to.equal('chat');
    await page.getByRole('button', { name: 'Clear' }).click();
    await row('browser-test').nth(3).waitFor();
  });

  it('sorts them by a column, and says so to screen readers and in the address', async () => {
    const head = page.getByRole('columnheader', { name: 'Duration' });
    await head.getByRole('button').click();
    await page.waitForURL('**/panel/requests?sort=-duration');
    expect(await head.getAttribute('aria-sort')).to.equal('descending');
    expect(await page.locator('tbody tr').first().innerText()).to.include('haiku-5'); // the slow one
    await head.getByRole('button').click();
    await page.waitForURL('**/panel/requests?sort=duration');
    expect(await head.getAttribute('aria-sort')).to.equal('ascending');
    expect(await page.locator('tbody tr').last().innerText()).to.include('haiku-5');
    await page.goto('/panel/requests');
  });

  it('tells what went wrong with a request in words', async () => {
    const failing = bodyOf('/v1/messages', 'sonnet-5', 'Half. [[sim:cut after=6]]', true);
    await (await pair.post('/v1/messages', failing, { 'x-api-key': issued })).text();
    await row('upstream_interrupted').first().click();
    await page.getByText('The answer of the upstream broke off.').first().waitFor();
    await shoot(page, 'request-failed');
    await page.getByRole('link', { name: 'All requests' }).click();
  });

  it('opens one with its stages, its calls and both ledgers', async () => {
    await row('Chat').first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Time in each stage' }).waitFor();
    await page.getByText('format-decode').waitFor();
    await page.getByRole('columnheader', { name: 'Billed upstream' }).waitFor();
    await page.getByText('answered', { exact: true }).waitFor();
  });

  it('rotates the key: both secrets work, and the list says until when the old one does', async () => {
    await page.goto('/panel/keys');
    await page.getByRole('button', { name: 'Rotate browser-test' }).click();
    await dialog()
      .getByLabel(`End of sk-gw-…${issued.slice(-4)}`)
      .selectOption('in an hour');
    await shoot(page, 'rotate-key');
    await dialog().getByRole('button', { name: 'Rotate the key' }).click();
    const next = await page.getByTestId('issued-key').innerText();
    expect(next)
      .to.match(/^sk-gw-.{20,}$/)
      .and.not.equal(issued);
    await dialog().getByRole('button', { name: 'I have it' }).click();
    await page.getByText(`…${issued.slice(-4)} works until`).waitFor();
    await shoot(page, 'rotated-key');
    for (const secret of [issued, next])
      expect(await askInEachFormat(pair, secret)).to.deep.equal([200, 200, 200, 200]);
    issued = next;
  });

  it('revokes the key, and the gateway refuses it', async () => {
    await page.goto('/panel/keys');
    await page.getByRole('button', { name: 'Revoke browser-test' }).click();
    await shoot(page, 'revoke-key');
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked keys (1)').waitFor();
    expect(await askInEachFormat(pair, issued)).to.deep.equal([401, 401, 401, 401]);
  });

  it('lets it in again, and deletes it for good', async () => {
    const letIn = page.getByRole('button', { name: 'Let browser-test in again' });
    await page.getByText('Revoked keys (1)').click();
    await letIn.click();
    await dialog().getByRole('button', { name: 'Let it in again' }).click();
    await page.getByText('Revoked keys').waitFor({ state: 'detached' });
    expect(await askInEachFormat(pair, issued)).to.deep.equal([200, 200, 200, 200]);
  });

  it('changes the limits of a key', async () => {
    await page.getByRole('button', { name: 'Edit browser-test' }).click();
    expect(await dialog().getByLabel('Requests a minute').inputValue()).to.equal('600');
    await dialog().getByLabel('Tokens a day').fill('2000000');
    await dialog().getByLabel('Requests a minute').fill('');
    await dialog().getByLabel('Slots').fill('team-a, team-*');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('browser-test').getByText('2M tokens a day').waitFor();
    await row('browser-test').getByText('only by team-a, team-*').waitFor();
    expect(await row('browser-test').getByText('requests a minute').count()).to.equal(0);
  });

  it('pauses and resumes a slot, and says so', async () => {
    await page.goto('/panel/slots');
    const slot = page.getByRole('article', { name: 'Slot team-b' });
    await slot.getByRole('button', { name: 'Pause' }).click();
    await slot.getByText('Paused', { exact: true }).waitFor();
    await page.getByText('team-b is paused.').waitFor();
    await slot.getByRole('button', { name: 'Resume' }).click();
    await slot.getByText('Ready', { exact: true }).waitFor();
  });

  it('diagnoses a slot step by step', async () => {
    await page
      .getByRole('article', { name: 'Slot team-a' })
      .getByRole('button', { name: 'Diagnose' })
      .click();
    await dialog().getByText('All is well: the upstream answers and accepts the credential.').waitFor();
    await shoot(page, 'diagnosis');
    await page.mouse.click(5, 5); // beside it
    await dialog().waitFor({ state: 'detached' });
    await page
      .getByRole('article', { name: 'Slot team-a' })
      .getByRole('button', { name: 'Diagnose' })
      .click();
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.waitForFunction("document.activeElement.innerText === 'Diagnose'");
  });

  it('adds a slot, changes it, and deletes it', async () => {
    await page.getByRole('button', { name: 'Add a slot' }).click();
    await dialog().getByLabel('Name of the slot').fill('team-c');
    await dialog().getByLabel('Base URL').fill(`${pair.simulator.url}/v1`);
    await dialog().getByLabel('Key', { exact: true }).fill('upstream-key-c');
    await dialog().getByRole('button', { name: 'Add the slot' }).click();
    await page.mouse.click(5, 5); // beside it, where a click must not cost what has been typed
    await dialog().getByText('remove it').waitFor(); // the API says what is wrong, and the form stays
    await shoot(page, 'slot-form');
    await dialog().getByLabel('Base URL').fill(pair.simulator.url);
    await dialog().getByRole('button', { name: 'Add the slot' }).click();
    const slot = page.getByRole('article', { name: 'Slot team-c' });
    await slot.getByText('0 of 32').waitFor();
    await slot.getByRole('button', { name: 'Edit team-c' }).click();
    expect(await dialog().getByLabel('Key', { exact: true }).inputValue()).to.equal('');
    await dialog().getByLabel('Requests at a time').fill('12');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await slot.getByText('0 of 12').waitFor();
    await slot.getByRole('button', { name: 'Delete team-c' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await slot.waitFor({ state: 'detached' });
  });

  it('shows a slot of the config file with its place and no way to change it', async () => {
    const slot = page.getByRole('article', { name: 'Slot team-a' });
    await slot.getByText('Config file').waitFor();
    expect(await slot.getByRole('button', { name: 'Edit team-a' }).count()).to.equal(0);
  });

  it('shows the pipeline, alternatives as one step of it', async () => {
    await page.goto('/panel/pipeline');
    const alternatives = page.getByRole('listitem').filter({ hasText: 'One of these' });
    await alternatives.waitFor();
    expect(await alternatives.getByRole('heading').allTextContents()).to.deep.equal([
      'streamed-tool-choice',
      'tool-choice',
    ]);
    await alternatives.getByText('Only where stream is true, and not (caller is team-*).').waitFor();
  });

  it('goes back to the login where the session has ended, and back to where one was', async () => {
    await page.goto('/panel/requests?format=chat');
    await row('Chat').first().waitFor();
    await window.context.clearCookies();
    await page.getByRole('link', { name: 'Pipeline' }).click();
    await page.waitForURL('**/panel/login?next=%2Fpipeline');
    await signIn(page);
    await page.getByRole('heading', { name: 'usage-mask' }).waitFor();
  });

  it('lets the keyboard skip the navigation', async () => {
    await page.goto('/panel/connect');
    await page.getByText('Base URL', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate<string>('document.activeElement.id')).to.equal('main');
  });

  it('asks nothing of the gateway while its tab is hidden', async () => {
    await page.goto('/panel/slots');
    await page.getByRole('article').first().waitFor();
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))",
    );
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    await page.evaluate('new Promise((done) => setTimeout(done, 3500))'); // longer than any poll of this page
    expect(asked).to.deep.equal([]);
    const again = page.waitForRequest('**/api/panel/slots');
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))",
    );
    await again;
  });

  it('complains of nothing in the console of the browser', () => {
    expect(window.complaints).to.deep.equal([]);
  });

  describe('with a day of work behind it', () => {
    let windows: ReadonlyMap<Look, Window>;

    before(async () => {
      const keys = [
        await issueByApi(pair, { name: 'alice', note: 'Laptop', tokens_per_day: 5_000_000 }),
        await issueByApi(pair, {
          name: 'nightly-ci',
          requests_per_minute: 120,
          models: ['haiku-*', 'sonnet-5'],
        }),
        await issueByApi(pair, {
          name: 'support-bot',
          tokens_per_month: 80_000_000,
          expires_at: '2036-01-01T00:00:00Z',
        }),
        issued,
      ];
      await workForADay(pair, clock, keys);
      const say = async (text: string) => {
        const body = bodyOf('/v1/messages', 'sonnet-5', text);
        await (await pair.post('/v1/messages', body, { 'x-api-key': keys[0]! })).text();
      };
      const used = '[[sim:windows 5h=0.62 7d=0.31 for=upstream-key-a]]';
      await say(`Slow down. [[sim:429 retry-after=240 times=1 for=upstream-key-a]] ${used}`);
      await say('Enough. [[sim:window-exhausted in=1500 for=upstream-key-b]]');
      for (let turn = 0; turn < 3; turn += 1) await say(`Go on. ${used}`);
      const slot = { id: 'plan-c', upstream: 'messages', baseUrl: pair.simulator.url };
      await pair.post('/api/panel/slots', { ...slot, account: { kind: 'api-key', key: 'upstream-key-c' } });
      await pair.post('/api/panel/slots/plan-c/pause', {});
      const opened = (['light', 'dark', 'phone'] as const).map(async (look) => {
        const opened = await openWindow(browser, pair.url, look);
        await opened.page.goto('/panel');
        await signIn(opened.page);
        return [look, opened] as const;
      });
      windows = new Map(await Promise.all(opened));
    });

    for (const look of ['light', 'dark', 'phone'] as const) {
      for (const [name, path] of Object.entries(pages)) {
        it(`the page "${name}" is good to use, ${look}`, async () => {
          await visit(windows.get(look)!.page, path, `${name}-${look}`);
        });
      }

      it(`the page of one request is good to use, ${look}`, async () => {
        const on = windows.get(look)!.page;
        await on.goto('/panel/requests?failed=false&format=messages');
        await on.getByRole('row').nth(1).getByRole('link').click();
        await on.getByRole('heading', { name: 'Tokens' }).waitFor();
        await check(on, `request-${look}`);
      });

      it(`a form is good to use, ${look}`, async () => {
        const on = windows.get(look)!.page;
        await on.goto('/panel/slots');
        await on.getByRole('button', { name: 'Add a slot' }).click();
        await on.getByRole('dialog').waitFor();
        await check(on, `slot-form-${look}`);
      });

      it(`the login is good to use, ${look}`, async () => {
        const out = await openWindow(browser, pair.url, look);
        await visit(out.page, '/panel/login', `login-${look}`);
        await out.close();
      });
    }

    it('splits the overview by key', async () => {
      const on = windows.get('light')!.page;
      await on.goto('/panel?by=key');
      await visit(on, '/panel?by=key', 'overview-by-key-light');
      await on.getByRole('listitem').filter({ hasText: 'support-bot' }).first().waitFor();
    });

    it('says which numbers stand under the pointer', async () => {
      const on = windows.get('light')!.page;
      await on.goto('/panel');
      const chart = on.getByRole('img', { name: /^Tokens/ });
      await chart.locator('canvas').waitFor();
      await chart.hover({ position: { x: 400, y: 100 } });
      await on.locator('.chart-tip').waitFor();
      await shoot(on, 'overview-tip-light');
    });

    it('complains of nothing in the console of the browser', () => {
      expect([...windows.values()].flatMap(({ complaints }) => complaints)).to.deep.equal([]);
    });
  });

  async function visit(on: Page, path: string, name: string): Promise<void> {
    await on.goto(path);
    await on.getByRole('heading', { level: 1 }).waitFor();
    await on.locator('.skeleton').first().waitFor({ state: 'detached' });
    if (name.startsWith('overview')) await on.locator('canvas').nth(3).waitFor();
    await check(on, name);
  }

  async function check(on: Page, name: string): Promise<void> {
    await shoot(on, name);
    expect(await overflowOf(on), 'overflow').to.be.at.most(0);
    expect(await violationsOf(on)).to.deep.equal([]);
  }
});
