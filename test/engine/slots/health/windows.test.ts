import { expect } from 'chai';
import type { SlotConfig } from '#src/config/config.js';
import { leaseRequest, openPool, refusal, slotCall, slotConfig, sticky, type FakeUpstream } from '../kit.js';
import { WindowGauge } from '#src/engine/slots/health/windows.js';

const resetSeconds = Date.UTC(2026, 0, 2) / 1000;

const resetHeader = 'anthropic-ratelimit-unified-5h-reset';

describe('usage windows', () => {
  it('are percentages to two decimals and times in milliseconds', () => {
    const gauge = new WindowGauge();
    gauge.read(headersOf('5h', '0.12345'));
    expect(gauge.windows).to.deep.equal({
      '5h': { percentUsed: 12.35, resetsAtMs: resetSeconds * 1000 },
      '7d': null,
    });
  });

  it('stay as they were last seen where an answer does not mention them', () => {
    const gauge = new WindowGauge();
    gauge.read(headersOf('5h', '0.5'));
    gauge.read(headersOf('7d', '0.25'));
    gauge.read({ 'retry-after': '1' });
    expect(gauge.windows['5h']?.percentUsed).to.equal(50);
    expect(gauge.windows['7d']?.percentUsed).to.equal(25);
  });

  it('are not taken from numbers that are none', () => {
    const gauge = new WindowGauge();
    gauge.read(headersOf('5h', 'half'));
    gauge.read({ 'anthropic-ratelimit-unified-5h-utilization': '0.5' });
    expect(gauge.windows).to.deep.equal({ '5h': null, '7d': null });
  });

  it('end at a date as well as at a number of seconds', () => {
    const gauge = new WindowGauge();
    gauge.read({ ...headersOf('5h', '0.5'), [resetHeader]: '2026-01-02T00:00:00Z' });
    expect(gauge.windows['5h']).to.deep.equal({ percentUsed: 50, resetsAtMs: resetSeconds * 1000 });
  });

  for (const reset of ['1e300', '-5', '', 'soon', '9999999999999999']) {
    it(`are not taken where they end at no time: ${JSON.stringify(reset)}`, () => {
      const gauge = new WindowGauge();
      gauge.read({ ...headersOf('5h', '0.5'), [resetHeader]: reset });
      expect(gauge.windows['5h']).to.equal(null);
    });
  }

  it('are read from every answer, successes and errors', async () => {
    const kit = await openPool([slotConfig('a')]);
    const { slot } = await kit.pool.lease(leaseRequest());
    answerWith(kit.upstream('a'), headersOf('5h', '0.1'));
    await slot.generate(slotCall());
    expect(slot.windows['5h']?.percentUsed).to.equal(10);
    kit.upstream('a').countTokens = async () => Promise.reject(refusal(400, headersOf('7d', '0.2')));
    await slot.countTokens(slotCall()).catch(() => undefined);
    expect(slot.windows['7d']?.percentUsed).to.equal(20);
    expect(kit.pool.list()[0]?.windows).to.deep.equal(slot.windows);
  });
});

describe('the account whose usage is shown', () => {
  it('is the slot of the sticky key', async () => {
    const { pool } = await openPool([oauth('a'), oauth('b')]);
    const lease = await pool.lease(sticky('s', { policy: (candidates) => candidates.at(-1)! }));
    lease.answered({});
    lease.release();
    expect(pool.account('s')?.id).to.equal('b');
  });

  it('is else the OAuth slot that would be picked', async () => {
    const { pool } = await openPool([slotConfig('key'), oauth('a'), oauth('b')]);
    expect(pool.account()?.id).to.equal('a');
    const lease = await pool.lease(leaseRequest({ policy: (candidates) => candidates[1]! }));
    expect(lease.slot.id).to.equal('a');
    expect(pool.account('unheard-of')?.id).to.equal('b');
    pool.pause('b');
    expect(pool.account()?.id).to.equal('a');
  });

  it('is an OAuth slot even where none is ready', async () => {
    const { pool } = await openPool([oauth('a')]);
    pool.pause('a');
    expect(pool.account()?.id).to.equal('a');
  });

  it('is nobody where there is no OAuth slot', async () => {
    const { pool } = await openPool([slotConfig('a')]);
    expect(pool.account()).to.equal(undefined);
  });
});

function headersOf(window: string, utilization: string): Record<string, string> {
  return {
    [`anthropic-ratelimit-unified-${window}-utilization`]: utilization,
    [`anthropic-ratelimit-unified-${window}-reset`]: String(resetSeconds),
  };
}

function answerWith(upstream: FakeUpstream, headers: Readonly<Record<string, string>>): void {
  const { generate } = upstream;
  upstream.generate = async (call) => ({ ...(await generate(call)), headers });
}

function oauth(id: string): SlotConfig {
  const tokens = { accessToken: id, refreshToken: id };
  return slotConfig(id, {
    account: { kind: 'oauth', ...tokens, tokenUrl: 'http://127.0.0.1:1', clientId: id },
  });
}
