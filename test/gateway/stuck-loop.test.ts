import { expect } from 'chai';
import { ask, stuckLine, StuckWorkshop } from './stuck-loop.js';

describe('an endless loop in a request', function () {
  this.timeout(60_000);
  const shop = new StuckWorkshop();
  afterEach(() => shop.end());

  for (const store of ['sqlite:data/gateway.db', 'memory'])
    it(`is logged with its place (${store})`, async () => {
      const { gateway, url } = await shop.start({ store });
      const hung = ask(url, 'loop');
      const line = await stuckLine(gateway);
      expect(line).to.include({ level: 'error', stuckMs: 1000 });
      expect(line['plugin']).to.match(/\/endless\.mjs:2:\d+$/);
      expect((line['stack'] as string[])[0]).to.match(/at spin \(file:.*\/endless\.mjs[^:]*:2:\d+\)$/);
      await shop.end();
      await hung;
    });

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

  it('in a native call is logged without a stack', async () => {
    const { gateway, url } = await shop.start({ workers: 2 });
    const hung = ask(url, 'native');
    const line = await stuckLine(gateway);
    expect(line['stack']).to.equal(undefined);
    expect(line.msg).to.include('native call');
    await gateway.log('A worker has died; a replacement starts.');
    await hung;
  });

  it('is refused a stuckTimeout that a busy machine would reach', async () => {
    const { code, stderr } = await shop.run({ stuckTimeout: '10ms' });
    expect(code).to.equal(1);
    expect(stderr).to.match(/stuckTimeout.* must be 0s/);
  });
});
