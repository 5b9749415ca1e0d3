import path from 'node:path';
import { expect } from 'chai';
import type { KeyLimits } from '@gw2api/gateway/plugin';
import { MemoryHub } from '@gw2api/gateway/testing';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ownFolder } from '../../../state/store/stores.js';
import { ask, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { callsTo, errorIn, issueKey } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';

/** 10 USD per million tokens of every sort: each token is 10,000 nano-USD. */
const price = { input: 10, output: 10, cacheRead: 10, cacheWrite5m: 10, cacheWrite1h: 10 };

describe('the budget of a key', () => {
  let simulator: Simulator;
  let nowMs: number;
  const now = () => nowMs;
  const open: GatewayUnderTest[] = [];
  beforeEach(async () => {
    nowMs = Date.parse('2026-03-10T15:00:00Z');
    simulator = await startSimulator();
  });
  afterEach(async () => {
    for (const under of open.splice(0)) await under.close();
    await simulator.close();
  });

  async function start(config: object = {}, hub = new MemoryHub({ now })): Promise<GatewayUnderTest> {
    const slots = [slotAt(simulator.url, { price })];
    const under = await startGateway({ slots, ...config }, {}, now, { live: hub.connect() });
    open.push(under);
    return under;
  }

  async function keyOf(under: GatewayUnderTest, limits: KeyLimits & { readonly team?: string }, name = 'ci') {
    return { 'x-api-key': await issueKey(under, name, limits) };
  }

  async function send(under: GatewayUnderTest, headers: Record<string, string>, body = ask('Hi')) {
    const answer = await under.post('/v1/messages', body, headers);
    await answer.clone().text();
    await under.gateway.exchanges.idle();
    return answer;
  }

  const usedBy = async ({ gateway }: GatewayUnderTest, meter: string) =>
    (await gateway.services.live.meters.read(meter))?.used;
  const dayMeter = (holder = 'ci') => `usdPerDay:${Date.parse('2026-03-10T00:00:00Z')}:${holder}`;

  it('counts what the upstream bills, and refuses once it is used up', async () => {
    const under = await start();
    const headers = await keyOf(under, { usdPerDay: 0.001 });
    expect((await send(under, headers)).status).to.equal(200);
    await under.gateway.services.ledger.flush();
    const { rows } = await under.gateway.services.store.ledger.requests({}, { limit: 1 });
    expect(rows[0]!.cost!.billed).to.be.above(0);
    expect(await usedBy(under, dayMeter())).to.equal(rows[0]!.cost!.billed);
    let answer = await send(under, headers);
    for (let n = 0; n < 100 && answer.status === 200; n += 1) answer = await send(under, headers);
    expect(answer.headers.get('x-should-retry')).to.equal('false');
    expect(answer.headers.get('retry-after')).to.equal(String(9 * 3600));
    const error = await errorIn(answer);
    expect(error).to.include({ status: 429, type: 'rate_limit_error', code: 'budget_exceeded' });
    expect(error.message).to.match(
      /^The key "ci" has used up its budget of 0.001 USD per day \(0\.\d+ USD so far\); it may continue in 32400 s, at 2026-03-11T00:00:00Z\.$/,
    );
    nowMs = Date.parse('2026-03-11T00:00:00Z');
    expect((await send(under, headers)).status).to.equal(200);
  });

  it('holds beside that of its team, and the tighter one decides', async () => {
    const under = await start();
    await under.gateway.services.store.teams.put({
      id: 't',
      name: 'search',
      createdAtMs: 0,
      usdPerMonth: 0.000_001,
    });
    const headers = await keyOf(under, { usdPerDay: 1000, team: 't' });
    const other = await keyOf(under, { team: 't' }, 'other');
    expect((await send(under, headers)).status).to.equal(200);
    for (const each of [headers, other]) {
      const error = await errorIn(await send(under, each));
      expect(error).to.include({ status: 429, code: 'budget_exceeded' });
      expect(error.message).to.include('The team "search" has used up its budget of 0.000001 USD per month');
    }
  });

  it('has a default for keys that say nothing themselves', async () => {
    const under = await start({ pipeline: stages({ with: { 'rate-limit': { usdPerDay: 0.000_001 } } }) });
    const headers = await keyOf(under, {});
    for (const status of [200, 429]) expect((await send(under, headers)).status).to.equal(status);
    const own = await keyOf(under, { usdPerDay: 5 }, 'own');
    for (const status of [200, 200]) expect((await send(under, own)).status).to.equal(status);
  });

  it('counts what an abandoned stream has used by estimate', async () => {
    const upstream = await startHeldUpstream({ usage: { input_tokens: 40, output_tokens: 1 } });
    const pipeline = stages({ without: ['persona-inject', 'web-search-tool'] });
    const under = await start({ slots: [slotAt(upstream.url, { price })], pipeline });
    const headers = await keyOf(under, { usdPerDay: 1 });
    const leaving = new AbortController();
    const sent = fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask('Hi'), stream: true }),
      signal: leaving.signal,
    });
    expect((await sent).status).to.equal(200);
    leaving.abort();
    expect(await (await upstream.next()).closed).to.equal(false);
    await under.gateway.exchanges.idle();
    expect(await usedBy(under, dayMeter())).to.equal((40 + 64 + Math.ceil('Hello.'.length / 3)) * 10_000);
    await upstream.close();
  });

  it('of a key and of its team is taken up from the ledger where the live state is lost', async () => {
    const folder = await ownFolder();
    const config = { store: `sqlite:${folder.where}/gateway.db` };
    const first = await start(config);
    await first.gateway.services.store.teams.put({ id: 't', name: 'search', createdAtMs: 0, usdPerDay: 1 });
    const headers = await keyOf(first, { usdPerDay: 1, team: 't' });
    const other = await keyOf(first, { team: 't' }, 'other');
    for (const each of [headers, headers, other]) await send(first, each);
    const used = (await usedBy(first, dayMeter()))!;
    expect(await usedBy(first, dayMeter('team/t'))).to.equal((used / 2) * 3);
    await first.close();
    const second = await start(config);
    expect(await usedBy(second, dayMeter())).to.equal(undefined);
    await send(second, headers);
    expect(await usedBy(second, dayMeter())).to.equal((used / 2) * 3);
    expect(await usedBy(second, dayMeter('team/t'))).to.equal((used / 2) * 4);
    await folder.remove();
  });

  describe('and a model without a price', () => {
    const refused =
      /has a budget, and the model "sonnet-5" has no known cost: the operator can add input, output, cacheRead, cacheWrite5m, cacheWrite1h to its `price`/;

    it('is forbidden before anything is asked, and nobody else is', async () => {
      const under = await start({ slots: [slotAt(simulator.url)] });
      const error = await errorIn(await send(under, await keyOf(under, { usdPerDay: 1 })));
      expect(error).to.include({ status: 403, code: 'forbidden' });
      expect(error.message).to.match(refused);
      expect(callsTo(simulator)).to.have.length(0);
      expect((await send(under, await keyOf(under, {}, 'free'))).status).to.equal(200);
    });

    it('is forbidden too where the price lacks a sort of tokens, and says which', async () => {
      const { cacheWrite1h: _, ...most } = price;
      const under = await start({ slots: [slotAt(simulator.url, { price: most })] });
      const { message } = await errorIn(await send(under, await keyOf(under, { usdPerMonth: 1 })));
      expect(message).to.include('can add cacheWrite1h to its `price`');
    });

    it('is asked of slots with a price alone, in a failover as well', async () => {
      const slots = [
        slotAt(simulator.url, { id: 'a', price }),
        slotAt(simulator.url, { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } }),
      ];
      const under = await start({ slots });
      const headers = await keyOf(under, { usdPerDay: 1 });
      for (let n = 0; n < 6; n += 1)
        expect((await send(under, headers)).headers.get('x-gw-slot')).to.equal('a');
      const failed = await send(under, headers, ask('[[sim:503 for=upstream-key-a]] Hi'));
      expect(failed.status).to.be.at.least(500);
      const calls = callsTo(simulator).map(({ headers: sent }) => sent['x-api-key']);
      expect(new Set(calls)).to.deep.equal(new Set(['upstream-key-a']));
      const free = await send(
        under,
        await keyOf(under, {}, 'free'),
        ask('[[sim:503 for=upstream-key-a]] Hi'),
      );
      expect(free.headers.get('x-gw-slot')).to.equal('b');
    });
  });

  it('without a stage that counts it is told at the start, and in the console', async () => {
    const under = await start({ pipeline: stages({ without: ['rate-limit'] }) });
    await keyOf(under, { usdPerDay: 1 });
    const status = await under.get('/api/panel/status');
    const { notices } = (await status.json()) as { notices: readonly string[] };
    expect(notices).to.deep.equal([
      'No stage of the pipeline enforces the budgets of the key "ci": list rate-limit in the pipeline, or remove the budgets.',
    ]);
  });
});

describe('the notice of budgets that no stage counts', () => {
  it('goes by the pipeline of a key, else by that of its team', async () => {
    const pipelines = [{ name: 'free', changes: [{ remove: 'rate-limit' }] }];
    const under = await startGateway({ pipelines, slots: [slotAt('http://127.0.0.1:9', { price })] });
    const panel = new PanelClient(under.url);
    const team = (await panel.ask('POST', '/teams', { name: 'freed', pipeline: 'free' })) as { id: string };
    const limits = { usd_per_day: 1 };
    await panel.ask('POST', '/keys', { name: 'by-team', team: team.id, ...limits });
    await panel.ask('POST', '/keys', { name: 'back', team: team.id, pipeline: 'default', ...limits });
    await panel.ask('POST', '/keys', { name: 'by-key', pipeline: 'free', ...limits });
    const { notices } = (await panel.get('/status')) as unknown as { notices: readonly string[] };
    await under.close();
    expect(notices.join()).to.include('"by-team"').and.include('"by-key"').and.not.include('"back"');
  });
});

describe('a budget that no stage counts', () => {
  const claims = {
    use: 'jwt-auth',
    with: {
      jwks: path.resolve('config/examples/jwt-auth.keys.json'),
      issuer: 'https://login.example',
      audience: 'gw2api',
      limits: { tokensPerDay: 'tokens', usdPerDay: 'budget' },
    },
  };
  const withClaims = (without: readonly string[] = []) => ({
    slots: [{ id: 'a', upstream: 'simulator' }],
    pipeline: [claims, ...stages({ without: ['auth', ...without] })],
  });

  it('is a problem of the config, with its line', async () => {
    const error: unknown = await startGateway(withClaims(['rate-limit'])).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(
      /config:\d+:\d+ pipeline\[0\]\.with\.limits\.usdPerDay: is a budget, and no stage of the pipeline enforces it; list rate-limit below, or remove it/,
    );
  });

  it('is none where rate-limit is listed', async () => {
    const under = await startGateway(withClaims());
    expect((await under.get('/v1/models')).status).to.equal(200);
    await under.close();
  });
});
