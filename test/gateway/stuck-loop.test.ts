import { expect } from 'chai';
import { ask, logsItsPlace, stuckLine, StuckWorkshop } from './stuck-loop.js';

describe('an endless loop in a request', function () {
  this.timeout(60_000);
  const shop = new StuckWorkshop();
  afterEach(() => shop.end());

  it('is logged with its place (sqlite:data/gateway.db)', () => logsItsPlace(shop, 'sqlite:data/gateway.db'));

  it('ends its worker alone, which is replaced', async () => {
    const { gateway, url } = await shop.start({ workers: 2 });
    const hung = ask(url, 'loop');
    const { worker, pid } = await stuckLine(gateway);
    const died = await gateway.log('A worker has died; a replacement starts.');
    expect(died).to.include({ worker, pid, signal: 'SIGKILL' });
    await gateway.log('A replacement worker is serving.');
    await hung;
    expect(await ask(url, '')).to.equal(200);
  });

  it('is refused a stuckTimeout that a busy machine would reach', async () => {
    const { code, stderr } = await shop.run({ stuckTimeout: '10ms' });
    expect(code).to.equal(78);
    expect(stderr).to.match(/stuckTimeout.* must be 0s/);
  });
});
