import { expect } from 'chai';
import { ask, slotAt, startGateway } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';

describe('two gateways in one process', () => {
  it('know nothing of each other', async () => {
    const upstreams = await Promise.all([startHeldUpstream(), startHeldUpstream()]);
    const gateways = await Promise.all(
      upstreams.map(({ url }, at) => startGateway({ slots: [slotAt(url, { id: `slot-${at}` })] })),
    );
    const [one, two] = gateways;
    one!.gateway.services.slots.pause('slot-0');
    expect(await one!.post('/v1/messages', ask('Hello!'))).to.have.property('status', 503);
    const answered = two!.post('/v1/messages', ask('Hello!'));
    (await upstreams[1].next()).finish();
    expect((await answered).headers.get('x-gw-slot')).to.equal('slot-1');
    await one!.close();
    const after = two!.post('/v1/messages', ask('Hello!'));
    (await upstreams[1].next()).finish();
    expect(await after).to.have.property('status', 200);
    expect(one!.logged.some(({ slot }) => slot === 'slot-1')).to.equal(false);
    await two!.close();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });
});
