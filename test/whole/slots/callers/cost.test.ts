import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { Price } from '#src/plugin/contract/models.js';
import type { LedgerTokens } from '#src/plugin/contract/ledger.js';
import { costOf } from '#src/state/ledger/cost.js';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { requestLines } from '../../kit.js';
import { PanelClient, type Answer } from '../../console/panel-client.js';
import { scripted } from '../../scripted-upstream.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

const price: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };
const persona = 'You are the assistant of a house with many rules. '.repeat(20);

describe('the cost of a request', () => {
  const folders = new TempFolders();
  const open: GatewayUnderTest[] = [];
  afterEach(async () => {
    for (const gateway of open.splice(0)) await gateway.close();
    await folders.remove();
  });

  /** A gateway over a simulator; `slot`: settings of its slot. */
  async function start(slot: object, config: Readonly<Record<string, unknown>> = {}): Promise<Pair> {
    const pair = await startPair(config, {}, (url) => [slotAt(url, slot)]);
    open.push(pair);
    return pair;
  }

  it('is that of the tokens, billed and shown, at the price of the slot', async () => {
    const pair = await start({ price, discount: 0.5 });
    await (await pair.post('/v1/messages', ask('Hi', { system: persona }))).text();
    const [row] = await rowsOf(pair);
    const half = Object.fromEntries(Object.entries(price).map(([sort, usd]) => [sort, usd / 2])) as never;
    expect(row!.cost).to.deep.equal({ billed: costOf(row!.billed, half), shown: costOf(row!.shown, half) });
    expect(row!.cost!.billed).to.be.greaterThan(row!.cost!.shown);
  });

  it('is unknown without a price, or where a sort of its tokens has none', async () => {
    const pair = await start({ price: { 'haiku-5': price } });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    expect((await rowsOf(pair))[0]).to.not.have.property('cost');
    const cached = await start({ price: { input: 3, output: 15 } });
    const system = [{ type: 'text', text: persona.repeat(5), cache_control: { type: 'ephemeral' } }];
    await (await cached.post('/v1/messages', ask('Hi', { system }))).text();
    const [row] = await rowsOf(cached);
    expect(row!.billed.cacheWrite1h + row!.billed.cacheWrite5m).to.be.greaterThan(0);
    expect(row).to.not.have.property('cost');
  });

  it('is nothing for a request that was refused before a call', async () => {
    const pair = await start({});
    await (await pair.post('/v1/messages', { model: 'sonnet-5' })).text();
    const [row] = await rowsOf(pair);
    expect(row!.attempts).to.equal(0);
    expect(row!.cost).to.deep.equal({ billed: 0, shown: 0 });
  });

  it('is that of the catalog by any name of the model, also of the model that answered in its place', async () => {
    const folder = await folders.make({
      'models.yaml': `models:
        - { id: big, aliases: [b], price: { input: 10, output: 50, cacheRead: 1, cacheWrite1h: 20 } }
        - { id: small, price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite1h: 2 } }`,
    });
    const busy = await scripted((_, response) => response.writeHead(529).end('{}'));
    const fallback = { use: 'fallback', with: { to: { big: ['small'] } } };
    const pair = await startPair(
      { models: `${folder}/models.yaml`, pipeline: stages().toSpliced(3, 0, fallback) },
      {},
      (url) => [slotAt(busy.url, { models: ['big'] }), slotAt(url, { id: 'b', models: ['small'] })],
    );
    open.push(pair);
    const small = { input: 1, output: 5, cacheRead: 0.1, cacheWrite1h: 2 };
    for (const model of ['small', 'b', 'big']) {
      expect((await pair.post('/v1/messages', ask('Hi', { model }))).status).to.equal(200);
      const [row] = await rowsOf(pair);
      expect(row!.billed.output).to.be.greaterThan(0);
      expect(row!.cost?.billed).to.equal(costOf(row!.billed, small));
    }
    await busy.close();
  });

  it('sums the calls of a failover, each at the price of its slot', async () => {
    // Breaks before its first content, after it has said that the prompt costs 100 tokens.
    const broken = await scripted(async (_, response, { start: begun }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await new Promise((resolve) => response.write(begun, resolve));
      response.destroy();
    });
    const pair = await startPair({}, {});
    open.push(pair);
    const gateway = await startGateway({
      slots: [
        slotAt(broken.url, { id: 'a', price: { input: 1, output: 0 } }),
        slotAt(pair.simulator.url, { id: 'b', price }),
      ],
      pipeline: stages({ with: { 'slot-pick': { policy: 'priority' } } }),
    });
    open.push(gateway);
    await (await gateway.post('/v1/messages', ask('Hi'))).text();
    const [row] = await rowsOf(gateway);
    expect(row!.trace!.calls.map(({ slot }) => slot)).to.deep.equal(['a', 'b']);
    const ofB: LedgerTokens = {
      ...row!.billed,
      input: row!.billed.input - 100,
      output: row!.billed.output - 64, // estimated, as the answer was cut off
    };
    expect(row!.cost!.billed).to.equal(100 * 1000 + costOf(ofB, price)!);
    await broken.close();
  });

  it('is that of the slot that answers, also where a reload removes it meanwhile', async () => {
    const upstream = await startHeldUpstream({ usage: { input_tokens: 40, output_tokens: 1 } });
    const folder = await folders.make();
    const write = (slot: object) =>
      writeIn(folder, 'gateway.yaml', configOf({ pipeline: stages(), slots: [slotAt(upstream.url, slot)] }));
    await write({ price });
    const gateway = await startGateway(`${folder}/gateway.yaml`);
    open.push(gateway);
    const sent = gateway.post('/v1/messages', ask('Hi', { stream: true }));
    const held = await upstream.next();
    await write({ id: 'other' });
    expect((await gateway.post('/admin/reload', {})).status).to.equal(200);
    held.finish();
    await (await sent).text();
    const [row] = await rowsOf(gateway);
    expect(row!.slot).to.equal('a');
    expect(row!.cost?.billed).to.equal(costOf(row!.billed, price));
    await upstream.close();
  });

  it('says what each stage has added, and what that cost', async () => {
    const pair = await start(
      { price },
      { pipeline: stages({ with: { 'persona-inject': { text: persona } } }) },
    );
    const isCount = ({ path }: { path: string }) => path.endsWith('/count_tokens');
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    while (pair.simulator.requests.filter(isCount).length < 3)
      await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(pair.simulator.requests.filter(isCount).map(({ closed }) => closed));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const row = (await rowsOf(pair))[0]!;
    const stageNames = Object.keys(row.additions!);
    expect(stageNames).to.have.members(['persona-inject', 'web-search-tool']);
    const added = Object.values(row.additions!);
    const sumOf = (tokens: LedgerTokens) => tokens.input + tokens.cacheRead + tokens.cacheWrite1h;
    expect(added.reduce((sum, { tokens }) => sum + sumOf(tokens), 0)).to.equal(
      sumOf(row.billed) - sumOf(row.shown),
    );
    expect(added.reduce((sum, { cost }) => sum + cost!, 0)).to.be.closeTo(
      row.cost!.billed - row.cost!.shown,
      2,
    );
    const [tool, text] = [row.additions!['web-search-tool']!, row.additions!['persona-inject']!];
    expect(sumOf(text.tokens)).to.be.greaterThan(sumOf(tool.tokens));
    expect(sumOf(tool.tokens)).to.be.greaterThan(0);
    const usage = await pair.gateway.services.store.ledger.usage({
      fromMs: row.atMs - 60_000,
      toMs: row.atMs + 60_000,
      by: 'stage',
      stepMs: 3_600_000,
    });
    expect([...new Set(usage.map(({ group }) => group))].toSorted()).to.deep.equal(stageNames.toSorted());
  });

  it('hides nothing of a tool that a Chat slot is never sent', async () => {
    const behind = await start(
      {},
      { pipeline: stages({ without: ['persona-inject', 'web-search-tool', 'usage-mask'] }) },
    );
    const account = { kind: 'api-key', key: masterKey };
    const chat = { id: 'chat', upstream: 'chat', baseUrl: `${behind.url}/v1`, account };
    const bare = await startGateway({
      slots: [chat],
      pipeline: stages({ with: { 'persona-inject': { text: '' } } }),
    });
    open.push(bare);
    const answer = await bare.post('/v1/messages', ask('Hi'));
    const { usage } = (await answer.json()) as { usage: { input_tokens: number } };
    const [row] = await rowsOf(bare);
    expect(row!.shown).to.deep.equal(row!.billed);
    expect(usage.input_tokens).to.equal(row!.billed.input);
    expect(row).to.not.have.property('additions');
  });

  it('is in the log line and in the metrics, where it is known', async () => {
    const pair = await start({ price });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const [row] = await rowsOf(pair);
    expect((await requestLines(pair))[0]).to.deep.include({ costUsd: row!.cost!.billed / 1e9 });
    const metrics = await (await pair.get('/metrics')).text();
    const [, usd] = /^gw2api_cost_usd_total\{slot="a",model="sonnet-5"\} (\S+)$/m.exec(metrics) ?? [];
    expect(Number(usd)).to.be.closeTo(row!.cost!.billed / 1e9, 1e-9);
  });

  it('is in the panel API: in sums, in requests, and in both as CSV', async () => {
    const pair = await start({ price });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const unpriced = await start({});
    await (await unpriced.post('/v1/messages', ask('Hi'))).text();
    const [row] = await rowsOf(pair);
    await rowsOf(unpriced);
    const usd = { billed_usd: row!.cost!.billed / 1e9, shown_usd: row!.cost!.shown / 1e9 };
    const json = (under: GatewayUnderTest, path: string) => new PanelClient(under.url).get(path);
    expect((await json(pair, '/usage')).data[0].cost).to.deep.equal({ ...usd, unpriced_requests: 0 });
    const [listed] = (await json(pair, '/requests')).data;
    expect(listed.cost).to.deep.equal(usd);
    const { additions } = await json(pair, `/requests/${listed.id}`);
    expect(additions.map(({ stage }: Answer) => stage)).to.include('persona-inject');
    expect((await json(unpriced, '/usage')).data[0].cost).to.deep.equal({
      billed_usd: 0,
      shown_usd: 0,
      unpriced_requests: 1,
    });
    expect((await json(unpriced, '/requests')).data[0].cost).to.equal(null);
    for (const [path, headers] of [
      ['/usage?as=csv', {}],
      ['/requests', { accept: 'text/csv' }],
    ] as const) {
      const answer = await pair.get(`/api/panel${path}`, headers);
      expect(answer.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      const [names, cells, ...others] = (await answer.text()).split('\r\n').map((line) => line.split(','));
      const at = names!.indexOf('cost_billed_usd');
      expect(Number(cells![at]), path).to.equal(usd.billed_usd);
      expect(others).to.deep.equal([['']]);
    }
    const refused = await pair.get('/api/panel/requests?limit=1001&as=json');
    expect(refused.status).to.equal(400);
  });

  it('is of a session by a name that is none of the caller’s', async () => {
    const pair = await start({ price });
    for (const id of ['one', 'two', 'one'])
      await (await pair.post('/v1/messages', ask('Hi'), { 'x-session-id': id })).text();
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const [none, again, two, one] = await rowsOf(pair);
    expect(one!.session).to.match(/^[0-9a-f]{16}$/);
    expect(again!.session).to.equal(one!.session);
    expect(two!.session).to.not.equal(one!.session);
    expect(none).to.not.have.property('session');
  });
});

/** All rows, the newest first, with their traces. */
async function rowsOf({ gateway }: GatewayUnderTest): Promise<readonly LedgerRow[]> {
  await gateway.exchanges.idle();
  await gateway.services.ledger.flush();
  const { ledger } = gateway.services.store;
  const { rows } = await ledger.requests({}, { limit: 10 });
  return Promise.all(rows.map(async (row) => (await ledger.get(row))!));
}
