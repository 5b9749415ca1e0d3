import { expect } from 'chai';
import { MemoryHub } from '@gw2api/gateway/testing';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { issueKey } from '../../kit.js';

const steps = { 'ten minutes': 600_000, 'five hours': 5 * 3_600_000 };

describe('a clock that steps back', () => {
  let simulator: Simulator;
  let under: GatewayUnderTest;
  let nowMs: number;
  const now = () => nowMs;
  beforeEach(async () => {
    nowMs = Date.parse('2026-03-10T15:00:00Z');
    simulator = await startSimulator();
    const live = new MemoryHub({ now }).connect();
    under = await startGateway({ slots: [slotAt(simulator.url)] }, {}, now, { live });
  });
  afterEach(async () => {
    await under.close();
    await simulator.close();
  });

  async function send(key: string): Promise<Response> {
    const answer = await under.post('/v1/messages', ask('Hi'), { 'x-api-key': key });
    await answer.text();
    await under.gateway.exchanges.idle();
    return answer;
  }

  for (const [name, ms] of Object.entries(steps)) {
    it(`by ${name} blocks no key for longer than its minute`, async () => {
      const key = await issueKey(under, 'ci', { requestsPerMinute: 1 });
      expect((await send(key)).status).to.equal(200);
      nowMs -= ms;
      const refused = await send(key);
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get('retry-after'))).to.be.at.most(60);
      nowMs += 60_000;
      expect((await send(key)).status).to.equal(200);
    });

    it(`by ${name} hides no new key for longer than a second`, async () => {
      expect((await send('sk-gw-ci')).status).to.equal(401);
      nowMs -= ms;
      const key = await issueKey(under, 'ci');
      expect((await send(key)).status).to.equal(200);
    });

    it(`by ${name} forgets nothing of a budget`, async () => {
      const key = await issueKey(under, 'ci', { tokensPerDay: 1 });
      expect((await send(key)).status).to.equal(200);
      nowMs -= ms;
      expect((await send(key)).status).to.equal(429);
    });
  }
});
