import { expect } from 'chai';
import { ask, slotAt, startPair, type Pair } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { clockAt } from '../../../clock-at.js';

const oauth = { kind: 'oauth', refreshToken: 'r', tokenUrl: 'http://127.0.0.1:9/token', clientId: 'gw' };

describe('/v1/usage', () => {
  let pair: Pair;
  let nowMs = Date.UTC(2026, 0, 1);
  before(async () => {
    pair = await startPair({}, { clock: clockAt(() => nowMs) }, (url) => [
      slotAt(url, { id: 'key' }),
      slotAt(url, { id: 'plan-1', account: { ...oauth, accessToken: 't1' } }),
      slotAt(url, { id: 'plan-2', account: { ...oauth, accessToken: 't2' } }),
    ]);
  });
  after(() => pair.close());

  const usage = async (headers?: Readonly<Record<string, string>>) =>
    (await (await pair.get('/v1/usage', headers)).json()) as { account: string };

  async function bind(slot: string, session: string, text: string): Promise<void> {
    for (const other of ['key', 'plan-1', 'plan-2'])
      if (other !== slot) pair.gateway.services.slots.pause(other);
    await (await pair.post('/v1/messages', ask(text), { 'x-session-id': session })).text();
    for (const other of ['key', 'plan-1', 'plan-2']) pair.gateway.services.slots.resume(other);
  }

  it('says nothing of windows that were never seen', async () => {
    expect(await usage()).to.deep.equal({
      object: 'usage',
      unit: 'percent_used',
      account: 'plan-1',
      '5h': null,
      '7d': null,
    });
  });

  it('shows the windows of the account that the session is bound to, as last seen', async () => {
    await bind('plan-2', 'mine', '[[sim:windows 5h=0.42 7d=0.12345]]');
    expect(await usage({ 'x-session-id': 'mine' })).to.deep.equal({
      object: 'usage',
      unit: 'percent_used',
      account: 'plan-2',
      '5h': { percent_used: 42, resets_at: '2026-01-01T04:00:00.000Z' },
      '7d': { percent_used: 12.35, resets_at: '2026-01-08T00:00:00.000Z' },
    });
    await bind('plan-2', 'mine', '[[sim:windows 5h=0.5 7d=0.2]]');
    expect(await usage({ 'x-session-id': 'mine' })).to.deep.include({
      '5h': { percent_used: 50, resets_at: '2026-01-01T04:00:00.000Z' },
    });
  });

  it('shows the one that would be picked to a session that no OAuth account has', async () => {
    await bind('key', 'other', 'Hello!');
    expect(await usage({ 'x-session-id': 'other' })).to.have.property('account', 'plan-1');
    pair.gateway.services.slots.pause('plan-1');
    expect(await usage()).to.have.property('account', 'plan-2');
    pair.gateway.services.slots.resume('plan-1');
  });

  it('learns from errors too', async () => {
    await bind('plan-1', 'third', '[[sim:window-exhausted]]');
    nowMs += 1000;
    const windows = (await usage({ 'x-session-id': 'third' })) as unknown as {
      '5h': { percent_used: number };
    };
    expect(windows['5h'].percent_used).to.equal(100);
  });

  it('is 404 where no slot has an OAuth account, and says so', async () => {
    const plain = await startPair();
    const error = await errorIn(await plain.get('/v1/usage'));
    expect(error).to.include({ status: 404, type: 'not_found_error', code: 'not_found' });
    expect(error.message).to.include('OAuth');
    await plain.close();
  });
});
