import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ask, configOf, file, logsItsPlace, stuckLine, stuckLines, StuckWorkshop } from './stuck-loop.js';

describe('an endless loop in a request', function () {
  this.timeout(60_000);
  const shop = new StuckWorkshop();
  afterEach(() => shop.end());

  it('is logged with its place (memory)', () => logsItsPlace(shop, 'memory'));

  it('ends its worker alone, which is replaced', async () => {
    const { gateway, url } = await shop.start({ workers: 2 });
    const hung = ask(url, 'loop');
    const { worker, pid } = await stuckLine(gateway);
    const died = await gateway.log('A worker died; a replacement is starting.');
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
    await gateway.log('A worker died; a replacement is starting.');
    await hung;
  });

  it('ends a process that serves alone after a minute, which SIGTERM cannot reach', async function () {
    this.timeout(100_000);
    const { gateway, url } = await shop.start();
    const hung = ask(url, 'loop');
    await stuckLine(gateway);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
    await hung;
  });

  it('of a generator names it', async () => {
    const { gateway, url } = await shop.start({ workers: 2 });
    const hung = ask(url, 'generator');
    const line = await stuckLine(gateway);
    expect((line['stack'] as string[])[0]).to.match(/at count \(file:.*\/endless\.mjs[^:]*:3:\d+\)$/);
    await hung;
  });

  it('holds up neither a reload nor the shutdown, and leaves no orphan', async () => {
    const { gateway, url, cwd } = await shop.start({ workers: 2, stuckTimeout: '2s' });
    const hung = ask(url, 'loop');
    await writeFile(path.join(cwd, file), configOf({ workers: 2, stuckTimeout: '2s' }).replace('"a"', '"b"'));
    gateway.signal('SIGHUP');
    await gateway.log('The config was reloaded.');
    await hung;
    await gateway.log('A replacement worker is serving.');
    const again = ask(url, 'loop');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
    await again;
  });

  it('ends an orphaned worker too', async () => {
    const { gateway, url } = await shop.start({ workers: 2 });
    const hung = ask(url, 'loop');
    gateway.signal('SIGKILL');
    await gateway.ended; // all processes that hold its output
    await hung;
  });

  it('is not looked for with stuckTimeout: 0s or while an inspector is open', async () => {
    const off = await shop.start({ stuckTimeout: '0s' });
    const inspected = await shop.start({}, { NODE_OPTIONS: '--inspect=127.0.0.1:0' });
    const watched = await shop.start();
    const hung = [off, inspected, watched].map(({ url }) => ask(url, 'loop'));
    await stuckLine(watched.gateway);
    expect(stuckLines(off.gateway)).to.deep.equal([]);
    expect(stuckLines(inspected.gateway)).to.deep.equal([]);
    await shop.end();
    await Promise.all(hung);
  });
});
