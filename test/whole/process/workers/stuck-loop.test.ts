import { expect } from 'chai';
import { logsItsPlace, StuckWorkshop } from './stuck-loop.js';

describe('an endless loop in a request', function () {
  this.timeout(60_000);
  const shop = new StuckWorkshop();
  afterEach(() => shop.end());

  it('is logged with its place (sqlite:data/gateway.db)', () => logsItsPlace(shop, 'sqlite:data/gateway.db'));

  it('is refused a stuckTimeout that a busy machine would reach', async () => {
    const { code, stderr } = await shop.run({ stuckTimeout: '10ms' });
    expect(code).to.equal(78);
    expect(stderr).to.match(/stuckTimeout.* must be 0s/);
  });
});
