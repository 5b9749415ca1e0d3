import path from 'node:path';
import { expect } from 'chai';
import { broken, callerOf, mark, withMark, type Caller } from './canary-calls.js';
import { ProcessWorkshop, type GatewayProcess, type LogLine } from '../../gateway-process.js';
import { masterKey } from '../../harness.js';
import { writeIn } from '../../temp-folders.js';

describe('a canary of several workers', () => {
  const shop = new ProcessWorkshop();
  let folder = '';
  let gateway: GatewayProcess;
  let caller: Caller;
  afterEach(() => shop.end());

  const write = (options: string | object, more: object = {}) =>
    writeIn(
      folder,
      'gateway.yaml',
      withMark(typeof options === 'string' ? { tag: options } : options, {
        slots: [{ id: 'a', upstream: 'simulator' }],
        listen: { host: '127.0.0.1', port: 0, workers: 2 },
        store: 'sqlite:./store.sqlite',
        ...more,
      }),
    );

  beforeEach(async () => {
    folder = await shop.folder({ 'mark.js': mark });
    await write('old');
    gateway = await shop.start({
      args: ['--config', path.join(folder, 'gateway.yaml')],
      env: { GW2API_API_KEY: masterKey },
    });
    caller = callerOf(await gateway.url());
  });

  it('has the same sides in all of them, also in one that replaces another, and is taken by all', async () => {
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    const marks = await caller.marks(40);
    expect(new Set(marks)).to.deep.equal(new Set(['old', 'new']));
    expect(await caller.marks(40)).to.deep.equal(marks);

    const { pid } = await gateway.line((line) => line['worker'] === 1, 'a line of the first worker');
    process.kill(Number(pid), 'SIGKILL');
    await gateway.log('A replacement worker is serving.');
    for (let time = 0; time < 3; time += 1) expect(await caller.marks(40)).to.deep.equal(marks);
    expect(await caller.canary()).to.include({ state: 'running' });

    expect(await caller.change('/commit')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
    expect(await caller.change('/commit')).to.equal(409);
  });

  /** Kills a worker, and waits until its replacement serves. */
  async function replace(worker: number): Promise<void> {
    const isBack = (line: LogLine) =>
      line['worker'] === worker && line.msg === 'A replacement worker is serving.';
    const { pid } = await gateway.line((line) => line['worker'] === worker, 'a line of the worker');
    process.kill(Number(pid), 'SIGKILL');
    await gateway.line(isBack, 'the line of its replacement');
  }

  it('is not joined by a new worker once it was given up', async () => {
    await write({ tag: 'new', fails: true });
    expect(await caller.change('?canary=50')).to.equal(200);
    for (let round = 0; round < 30 && (await caller.canary())!.state === 'running'; round += 1)
      await caller.marks(40, `round ${round}`);
    await gateway.line(({ msg }) => msg.startsWith('The canary was rolled back'));
    await replace(1);
    for (let time = 0; time < 3; time += 1)
      expect(new Set(await caller.marks(40, `after ${time}`))).to.deep.equal(new Set(['old']));
    expect(await caller.change('/commit')).to.equal(409);
  });

  it('is taken also by a worker that could not join it', async () => {
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    await writeIn(folder, 'mark.js', broken);
    await replace(1);
    await gateway.log('This worker could not join the canary of the others.');
    await writeIn(folder, 'mark.js', mark);
    await replace(2);
    expect(await caller.change('/commit')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
  });

  it('is refused, cancelled and replaced in all of them', async () => {
    await write('new', { slots: [{ id: 'b', upstream: 'simulator' }] });
    expect(await caller.change('?canary=50')).to.equal(409);
    expect(await caller.change('/cancel')).to.equal(409);
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    expect(await caller.change('/cancel')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['old']));
    expect(await caller.change('?canary=50')).to.equal(200);
    expect(await caller.change('')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
  });
});
