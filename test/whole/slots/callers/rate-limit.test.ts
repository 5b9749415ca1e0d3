import { expect } from 'chai';
import type { KeyLimits } from '@gw2api/gateway/plugin';
import { MemoryHub } from '@gw2api/gateway/testing';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ownFolder } from '../../../state/store/stores.js';
import { dialects, formatNames } from '../../formats/dialects.js';
import { ask, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { callsTo, errorIn, issueKey, requestLines } from '../../kit.js';

const hi = { role: 'user', content: 'Hi' };

describe('the limits of a key', () => {
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
    const slots = [slotAt(simulator.url)];
    const under = await startGateway({ slots, ...config }, {}, now, { live: hub.connect() });
    open.push(under);
    return under;
  }

  async function keyOf(under: GatewayUnderTest, limits: KeyLimits, name = 'ci') {
    return { 'x-api-key': await issueKey(under, name, limits) };
  }

  /** One request to its end, and what has come of it. */
  async function status(under: GatewayUnderTest, headers: Record<string, string>, body = ask('Hi')) {
    const answer = await under.post('/v1/messages', body, headers);
    await answer.text();
    await under.gateway.exchanges.idle();
    return answer.status;
  }

  for (const format of formatNames)
    it(`are told in the error object and in headers (${format})`, async () => {
      const under = await start();
      const { path, request } = dialects[format];
      const headers = await keyOf(under, { requestsPerMinute: 1 });
      for (const stream of [false, true]) {
        const taken = await under.post(path, { ...request('Hi'), stream }, headers);
        expect(taken.status).to.equal(200);
        expect(taken.headers.get('x-ratelimit-remaining-requests')).to.equal('0');
        await taken.text();
        nowMs += 10_000;
        const refused = await under.post(path, { ...request('Hi'), stream }, headers);
        expect(refused.headers.get('retry-after')).to.equal('50');
        expect(refused.headers.get('x-ratelimit-reset-requests')).to.equal('50s');
        const error = await errorIn(refused);
        expect(error).to.include({ status: 429, type: 'rate_limit_error', code: 'rate_limited' });
        expect(error.message).to.include('"ci"').and.include('1 request per minute').and.include('50 s');
        nowMs += 50_000;
      }
    });

  it('let exactly as many of many at once through', async () => {
    const under = await start();
    const headers = await keyOf(under, { requestsPerMinute: 10 });
    const statuses = await Promise.all(Array.from({ length: 50 }, () => status(under, headers)));
    expect(statuses.filter((code) => code === 200)).to.have.length(10);
    expect(statuses.filter((code) => code === 429)).to.have.length(40);
    expect(callsTo(simulator)).to.have.length(10);
  });

  it('hold over all gateways that share what they share', async () => {
    const hub = new MemoryHub({ now });
    const [one, two] = [await start({}, hub), await start({}, hub)];
    const [first, second] = [
      await keyOf(one, { requestsPerMinute: 10 }),
      await keyOf(two, { requestsPerMinute: 10 }),
    ];
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, n) => (n % 2 ? status(one, first) : status(two, second))),
    );
    expect(statuses.filter((code) => code === 200)).to.have.length(10);
  });

  it('hold for tokens too, over all gateways', async () => {
    const hub = new MemoryHub({ now });
    const [one, two] = [await start({}, hub), await start({}, hub)];
    const limits = { tokensPerMinute: 1, tokensPerDay: 1_000_000 };
    const [first, second] = [await keyOf(one, limits), await keyOf(two, limits)];
    expect(await status(one, first)).to.equal(200);
    expect(await status(two, second)).to.equal(429);
    nowMs += 60_000;
    expect(await status(two, second)).to.equal(200);
  });

  it('count the tokens that the caller was told of', async () => {
    const under = await start();
    const headers = await keyOf(under, { tokensPerDay: 1_000_000 });
    const answer = await under.post('/v1/messages', ask('Hi'), headers);
    const { usage } = (await answer.json()) as { usage: Record<string, number> };
    await under.gateway.exchanges.idle();
    const next = await under.post('/v1/messages', ask('Hi'), headers);
    await next.text();
    const fields = [
      'input_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
      'output_tokens',
    ];
    const told = fields.reduce((sum, field) => sum + (usage[field] ?? 0), 0);
    expect(next.headers.get('x-ratelimit-remaining-tokens')).to.equal(String(1_000_000 - told));
    expect(next.headers.get('x-ratelimit-reset-tokens')).to.equal('9h0m0s');
  });

  it('count what an abandoned stream has used so far', async () => {
    const upstream = await startHeldUpstream({ usage: { input_tokens: 40, output_tokens: 1 } });
    const pipeline = stages({ without: ['persona-inject', 'web-search-tool'] });
    const under = await start({ slots: [slotAt(upstream.url)], pipeline });
    const headers = await keyOf(under, { tokensPerMinute: 41 });
    const leaving = new AbortController();
    const answer = await fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(ask('Hi', { stream: true })),
      signal: leaving.signal,
    });
    expect(answer.status).to.equal(200);
    leaving.abort();
    expect(await (await upstream.next()).closed).to.equal(false);
    await under.gateway.exchanges.idle();
    expect(await status(under, headers)).to.equal(429);
    await upstream.close();
  });

  it('count what a stream has used that broke off', async () => {
    const under = await start();
    const headers = await keyOf(under, { tokensPerMinute: 1 });
    const broken = await under.post('/v1/messages', ask('[[sim:cut after=3]] Hi', { stream: true }), headers);
    await broken.text().catch(() => '');
    await under.gateway.exchanges.idle();
    expect(await status(under, headers)).to.equal(429);
  });

  it('of a day survive a restart', async () => {
    const folder = await ownFolder();
    const config = { store: `sqlite:${folder.where}/gateway.db` };
    const first = await start(config);
    const headers = await keyOf(first, { tokensPerDay: 1 });
    expect(await status(first, headers)).to.equal(200);
    expect(await status(first, headers)).to.equal(429);
    await first.close();
    const second = await start(config);
    const refused = await second.post('/v1/messages', ask('Hi'), headers);
    expect(refused.headers.get('retry-after')).to.equal(String(9 * 3600));
    expect((await errorIn(refused)).message)
      .to.include('1 token per day')
      .and.include('2026-03-11T00:00:00Z');
    nowMs = Date.parse('2026-03-11T00:00:00Z');
    expect(await status(second, headers)).to.equal(200);
    await second.close();
    await folder.remove();
  });

  it('of a day know of what was used just before there were any', async () => {
    const under = await start();
    const headers = await keyOf(under, {});
    expect(await status(under, headers)).to.equal(200);
    await under.gateway.services.store.keys.update('ci', { tokensPerDay: 1 });
    under.gateway.services.keys.forget();
    expect(await status(under, headers)).to.equal(429);
  });

  it('hold within a second of their change', async () => {
    const under = await start();
    const headers = await keyOf(under, { requestsPerMinute: 1 });
    for (const code of [200, 429]) expect(await status(under, headers)).to.equal(code);
    await under.gateway.services.store.keys.update('ci', { requestsPerMinute: 2 });
    nowMs += 1000;
    for (const code of [200, 429]) expect(await status(under, headers)).to.equal(code);
    await under.gateway.services.store.keys.update('ci', { requestsPerMinute: null });
    nowMs += 1000;
    for (const code of [200, 200]) expect(await status(under, headers)).to.equal(code);
  });

  it('on requests at a time hold over all gateways, until a response closes or its gateway has gone', async () => {
    const upstream = await startHeldUpstream();
    const hub = new MemoryHub({ now });
    const slots = [slotAt(upstream.url)];
    const [one, two] = [await start({ slots }, hub), await start({ slots }, hub)];
    const limits = { maxConcurrent: 2, requestsPerMinute: 10 };
    const [first, second] = [await keyOf(one, limits), await keyOf(two, limits)];
    const body = ask('Hi', { stream: true });
    const open = async (under: GatewayUnderTest, headers: Record<string, string>) => {
      const leaving = new AbortController();
      const { signal } = leaving;
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, signal };
      const answer = await fetch(`${under.url}/v1/messages`, { ...init, body: JSON.stringify(body) });
      expect(answer.status).to.equal(200);
      return { leaving, held: await upstream.next() };
    };
    const refused = async (under: GatewayUnderTest, headers: Record<string, string>) => {
      const answer = await under.post('/v1/messages', body, headers);
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(answer.headers.get('x-ratelimit-remaining-requests'), 'not counted').to.equal(null);
      const error = await errorIn(answer);
      expect(error).to.include({ status: 429, type: 'rate_limit_error', code: 'rate_limited' });
      expect(error.message).to.include('"ci"').and.include('2 requests at a time');
    };

    const abandoned = await open(one, first);
    const finished = await open(two, second);
    await refused(one, first);
    await refused(two, second);
    abandoned.leaving.abort();
    await one.gateway.exchanges.idle();
    const next = await open(two, second);
    await refused(one, first);
    finished.held.finish();
    next.leaving.abort();
    await two.gateway.exchanges.idle();
    await open(one, first);
    const last = await open(one, first);
    await refused(two, second);
    await one.gateway.services.live.close();
    (await open(two, second)).held.finish();
    last.leaving.abort();
    await upstream.close();
  });

  it('do not count what was no request, nor what only counts or lists', async () => {
    const under = await start();
    const headers = await keyOf(under, { requestsPerMinute: 1 });
    const countable = ask('Hi', { max_tokens: undefined });
    for (const body of [{}, { model: 'sonnet-5' }, { model: 'sonnet-5', messages: 'Hi' }])
      expect((await under.post('/v1/chat/completions', body, headers)).status).to.equal(400);
    for (let n = 0; n < 3; n += 1) {
      expect((await under.post('/v1/messages/count_tokens', countable, headers)).status).to.equal(200);
      expect((await under.get('/v1/models', headers)).status).to.equal(200);
    }
    expect(await status(under, headers)).to.equal(200);
  });

  it('on requests at a time take a place for each answer of one request', async () => {
    const upstream = await startHeldUpstream();
    const under = await start({ slots: [slotAt(upstream.url)] });
    const headers = await keyOf(under, { maxConcurrent: 3 });
    const chat = (n: number, path = '/v1/chat/completions', more: object = { messages: [hi] }) =>
      under.post(path, { model: 'sonnet-5', stream: true, n, ...more }, headers);
    for (const [n, path, more] of [
      [4, '/v1/chat/completions', { messages: [hi] }],
      [2, '/v1/completions', { prompt: ['a', 'b'] }],
    ] as const) {
      const tooMany = await chat(n, path, more);
      expect(tooMany.headers.get('x-should-retry')).to.equal('false');
      expect(await errorIn(tooMany))
        .to.include({ status: 429, code: 'rate_limited' })
        .and.property('message')
        .that.matches(/asks for 4 answers/);
    }
    const first = chat(2);
    const held = [await upstream.next(), await upstream.next()];
    expect((await chat(2)).status).to.equal(429);
    const second = chat(1);
    held.push(await upstream.next());
    for (const each of held) each.finish();
    for (const answer of [first, second]) await (await answer).text();
    await under.gateway.exchanges.idle();
    const third = chat(3);
    for (let at = 0; at < 3; at += 1) (await upstream.next()).finish();
    expect((await third).status).to.equal(200);
    await (await third).text();
    await upstream.close();
  });

  it('of requests per minute hold for token counts apart, which are estimated beyond them', async () => {
    const under = await start();
    const headers = await keyOf(under, { requestsPerMinute: 2 });
    const body = ask('Hi', { max_tokens: undefined });
    const counts: unknown[] = [];
    for (let at = 0; at < 4; at += 1) {
      const answer = await under.post('/v1/messages/count_tokens', body, headers);
      counts.push([answer.status, answer.headers.get('x-gw-estimated')]);
      expect(await answer.json())
        .to.have.property('input_tokens')
        .that.is.above(0);
    }
    expect(counts).to.deep.equal([
      [200, null],
      [200, null],
      [200, 'true'],
      [200, 'true'],
    ]);
    expect(simulator.requests.filter(({ path }) => path.includes('count_tokens'))).to.have.length(2);
    nowMs += 60_000;
    const next = await under.post('/v1/messages/count_tokens', body, headers);
    expect(next.headers.get('x-gw-estimated')).to.equal(null);
    expect(await status(under, headers)).to.equal(200);
  });

  it('on requests at a time hold for token counts', async () => {
    const upstream = await startHeldUpstream();
    const under = await start({ slots: [slotAt(upstream.url)] });
    const headers = await keyOf(under, { maxConcurrent: 1 });
    const running = under.post('/v1/messages', ask('Hi', { stream: true }), headers);
    const held = await upstream.next();
    const count = await under.post(
      '/v1/messages/count_tokens',
      ask('Hi', { max_tokens: undefined }),
      headers,
    );
    expect(await errorIn(count)).to.include({ status: 429, code: 'rate_limited' });
    held.finish();
    await (await running).text();
    await upstream.close();
  });

  it('do not bind the master key, nor tell it of any', async () => {
    const under = await start({ pipeline: stages({ with: { 'rate-limit': { requestsPerMinute: 1 } } }) });
    for (let n = 0; n < 3; n += 1) {
      const answer = await under.post('/v1/messages', ask('Hi'));
      expect(answer.status).to.equal(200);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit-'))).to.deep.equal([]);
      await answer.text();
    }
  });

  it('leave their refusals in the log and in the ledger', async () => {
    const under = await start();
    const headers = await keyOf(under, { requestsPerMinute: 1 });
    for (const code of [200, 429]) expect(await status(under, headers)).to.equal(code);
    const lines = await requestLines(under);
    expect(lines.at(-1)).to.include({ status: 429, key: 'ci', model: 'sonnet-5', code: 'rate_limited' });
    await under.gateway.services.ledger.flush();
    const { rows } = await under.gateway.services.store.ledger.requests({ status: 429 }, { limit: 10 });
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ keyId: 'ci', code: 'rate_limited', attempts: 0, failed: true });
    expect(rows[0]!.billed).to.include({ input: 0, output: 0 });
  });
});
