import { expect } from 'chai';
import { version } from '#src/kit/version.js';
import { ask, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { clockAt } from '../../../clock-at.js';

describe('health', () => {
  let pair: Pair;
  let nowMs = Date.UTC(2026, 0, 1);
  before(async () => {
    const pipeline = stages({
      with: { 'body-limit': { limit: '1mb' }, 'max-tokens': { cap: 64_000 }, 'cache-ttl': { ttl: '5m' } },
    });
    pair = await startPair({ pipeline }, { clock: clockAt(() => nowMs) }, (url) => [
      slotAt(url),
      slotAt(url, { id: 'b' }),
    ]);
  });
  after(() => pair.close());

  for (const path of ['/health', '/', '/v1/meta', '/meta'])
    it(`is told at ${path}, with the limits that the stages keep`, async () => {
      nowMs += 1500;
      const startedMs = Date.UTC(2026, 0, 1);
      const response = await fetch(pair.url + path);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect(await response.json()).to.deep.equal({
        status: 'ok',
        name: 'gw2api',
        version,
        uptime_seconds: Math.floor((nowMs - startedMs) / 1000),
        limits: { max_body_bytes: 1_048_576, max_tokens: 64_000, cache_ttl_seconds: 300 },
        slots: { total: 2, schedulable: 2 },
        store: { ok: true },
        live: { ok: true },
      });
    });

  it('has the limits of the contract where nothing is said', async () => {
    const plain = await startGateway({ slots: [slotAt(pair.simulator.url)] });
    const { limits } = (await (await plain.get('/health')).json()) as { limits: object };
    await plain.close();
    expect(limits).to.deep.equal({
      max_body_bytes: 134_217_728,
      max_tokens: 128_000,
      cache_ttl_seconds: 3600,
    });
  });

  it('asks for readiness by ready=true too, and refuses what it cannot read', async () => {
    expect((await pair.get('/health?ready=true')).status).to.equal(
      (await pair.get('/health?ready=1')).status,
    );
    const refused = await pair.get('/health?ready=yes');
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.include('ready: must be one of 1, true, 0, false, not \\"yes\\"');
  });

  it('is 200 as long as the process serves, and 503 with ready=1 where no slot is schedulable', async () => {
    pair.gateway.services.slots.pause('a');
    const one = await pair.get('/health?ready=1');
    expect(one.status).to.equal(200);
    expect(await one.json()).to.have.deep.property('slots', { total: 2, schedulable: 1 });
    pair.gateway.services.slots.drain('b');
    const alive = await pair.get('/health');
    expect(alive.status).to.equal(200);
    expect(await alive.json()).to.have.property('status', 'ok');
    const none = await pair.get('/health?ready=1');
    expect(none.status).to.equal(503);
    expect(await none.json()).to.deep.include({ status: 'not_ready', slots: { total: 2, schedulable: 0 } });
    pair.gateway.services.slots.resume('a');
    pair.gateway.services.slots.resume('b');
    expect(await pair.get('/?ready=1')).to.have.property('status', 200);
  });

  it('is degraded with ready=1, and no less ready, while slots only cool down', async () => {
    pair.simulator.faults.push('429 retry-after=900');
    const own = {
      ...pair,
      ...(await startGateway({ slots: [slotAt(pair.simulator.url, { models: ['sonnet-5'] })] })),
    };
    await (await own.post('/v1/messages', ask('Hello!'))).text();
    const [slot] = own.gateway.services.slots.list();
    expect(slot).to.include({ state: 'cooling', reason: 'rate_limited' });
    const cooling = await own.get('/health?ready=1');
    expect(cooling.status).to.equal(200);
    expect(await cooling.json()).to.deep.include({ status: 'degraded', slots: { total: 1, schedulable: 0 } });
    own.gateway.services.slots.pause('a');
    expect(await own.get('/health?ready=1')).to.have.property('status', 503);
    await own.close();
  });
});
