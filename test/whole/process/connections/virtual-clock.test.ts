import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { eventually } from '../../../eventually.js';
import { ask, slotAt, startPair, type Pair } from '../../harness.js';
import { errorIn } from '../../kit.js';

describe('a gateway whose clock stands still', () => {
  let clock: ManualClock;
  let pair: Pair;
  beforeEach(async () => {
    clock = new ManualClock();
    pair = await startPair({}, { clock }, (url) => [slotAt(url, { maxConcurrent: 1 })], { clock });
  });
  afterEach(() => pair.close());

  const post = () => pair.post('/v1/messages', ask('Hi'));

  it('gives a silent upstream up once its time has come', async () => {
    pair.simulator.faults.push('hang times=1');
    const received = pair.simulator.nextRequest();
    const answer = post();
    await received;
    clock.pass(60_000);
    const { status, headers } = await answer;
    expect([status, headers.get('x-gw-attempts')]).to.deep.equal([504, '1']);
  });

  it('lets a request wait for a permit, and an upstream be late, as long as it says', async () => {
    pair.simulator.faults.push('late ms=40000');
    const received = pair.simulator.nextRequest();
    const first = post();
    await received;
    const second = post();
    await eventually(() => pair.gateway.services.slots.list()[0]!.queued === 1);
    clock.pass(30_000);
    expect(await errorIn(await second)).to.include({ status: 503, code: 'no_slot_available' });
    clock.pass(10_000);
    expect((await first).status).to.equal(200);
  });
});
