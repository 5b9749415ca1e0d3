import { expect } from 'chai';
import { MemoryHub } from '@gw2api/gateway/testing';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { scripted } from '../scripted-upstream.js';

describe('sessions whose first calls come in parallel', () => {
  let simulator: Simulator;
  const open: GatewayUnderTest[] = [];
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(async () => {
    for (const under of open.splice(0)) await under.close();
    await simulator.close();
  });

  const slots = () =>
    ['a', 'b', 'c'].map((id) => slotAt(simulator.url, { id, account: { kind: 'api-key', key: id } }));

  for (const count of [1, 2])
    it(`stay together: 25 sessions with three calls each, at ${count} gateway(s)`, async () => {
      const hub = new MemoryHub();
      for (let n = 0; n < count; n += 1)
        open.push(await startGateway({ slots: slots() }, {}, Date.now, { live: hub.connect() }));
      const slotsOf = new Map<number, Set<string | null>>();
      const call = async (session: number, n: number) => {
        const under = open[(session + n) % count]!;
        const answer = await under.post('/v1/messages', ask('Hi'), { 'x-session-id': `session-${session}` });
        await answer.text();
        expect(answer.status).to.equal(200);
        const seen = slotsOf.get(session) ?? new Set();
        slotsOf.set(session, seen.add(answer.headers.get('x-gw-slot')));
      };
      await Promise.all(Array.from({ length: 75 }, (_, index) => call(index % 25, Math.floor(index / 25))));
      const split = [...slotsOf.values()].filter(({ size }) => size > 1);
      expect(split).to.have.length(0);
      expect(new Set([...slotsOf.values()].flatMap((seen) => [...seen])).size).to.be.above(1);
    });
});

describe('the first 429 of an exhausted window', () => {
  it('says when the window opens, also where the upstream says no retry-after', async () => {
    const prefix = 'anthropic-ratelimit-unified';
    const nowMs = Date.UTC(2026, 0, 1);
    const upstream = await scripted((_request, response) => {
      response.writeHead(429, {
        'content-type': 'application/json',
        [`${prefix}-status`]: 'rejected',
        [`${prefix}-reset`]: String(nowMs / 1000 + 900),
        [`${prefix}-5h-status`]: 'rejected',
        [`${prefix}-5h-utilization`]: '1',
        [`${prefix}-5h-reset`]: String(nowMs / 1000 + 900),
      });
      response.end('{"type":"error","error":{"type":"rate_limit_error","message":"used up"}}');
    });
    const under = await startGateway({ slots: [slotAt(upstream.url)] }, {}, () => nowMs);
    for (const by of ['the upstream', 'the gateway']) {
      const refused = await under.post('/v1/messages', ask('Hi'));
      expect([refused.status, refused.headers.get('retry-after')], by).to.deep.equal([429, '900']);
      await refused.text();
    }
    await under.close();
    await upstream.close();
  });
});
