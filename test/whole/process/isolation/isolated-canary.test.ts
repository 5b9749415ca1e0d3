import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { callerOf, type Caller } from '../../slots/canary/canary-calls.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { configOf, masterKey, stages } from '../../harness.js';
import { writeIn } from '../../temp-folders.js';
import { isolatedSuite, isRunning, stageModule, withStage } from './isolated.js';

/** Marks its answers with its tag and its process, which ends at a request if an option says so. */
const own = stageModule(
  `requires: ['request'], options: { type: 'object', properties: { tag: { type: 'string' }, exits: { type: 'boolean' } } },`,
  `return (ctx, next) => {
    if (options.exits) process.exit(1);
    ctx.set('x-mark', options.tag + ' ' + process.pid);
    return next();
  };`,
);

isolatedSuite('an isolated stage in a canary', function () {
  this.timeout(40_000);
  const shop = new ProcessWorkshop();
  let folder = '';
  let gateway: GatewayProcess;
  let caller: Caller;
  afterEach(() => shop.end());

  const write = (options: object) => {
    const pipeline = withStage({ use: './own.mjs', isolate: true, with: options }, stages());
    const listen = { host: '127.0.0.1', port: 0, workers: 2 };
    const slots = [{ id: 'a', upstream: 'simulator' }];
    return writeIn(
      folder,
      'gateway.yaml',
      configOf({ listen, pipeline, slots, store: 'sqlite:./store.sqlite' }),
    );
  };

  beforeEach(async () => {
    folder = await shop.folder({ 'own.mjs': own });
    await write({ tag: 'old' });
    gateway = await shop.start({
      args: ['--config', path.join(folder, 'gateway.yaml')],
      env: { GW2API_API_KEY: masterKey },
    });
    caller = callerOf(await gateway.url());
  });

  /** Processes by the tags of the answers of some new sessions. */
  async function childrenOf(name: string): Promise<Readonly<Record<string, readonly number[]>>> {
    const marks = [...new Set(await caller.marks(40, name))].map((mark) => String(mark).split(' '));
    const of = (tag: string) => marks.filter(([has]) => has === tag).map(([, pid]) => Number(pid));
    return { old: of('old'), new: of('new') };
  }

  const ended = (pids: readonly number[]) => eventually(() => !pids.some(isRunning));

  it('acts on the requests of its side, in a child of each worker that ends when it is cancelled', async () => {
    const { old: before } = await childrenOf('before');
    expect(before).to.have.length(2);
    await write({ tag: 'new' });
    expect(await caller.change('?canary=50')).to.equal(200);
    const both = await childrenOf('both');
    expect(both['old']).to.have.members(before!);
    expect(both['new']).to.have.length(2);
    expect(both['new']!.every(isRunning)).to.equal(true);

    expect(await caller.change('/cancel')).to.equal(200);
    await ended(both['new']!);
    const { old: after, new: none } = await childrenOf('after');
    expect(after).to.have.members(before!);
    expect(none).to.deep.equal([]);
  });

  it('serves alone once it is taken, and the children of the old config end', async () => {
    const { old: before } = await childrenOf('before');
    await write({ tag: 'new' });
    expect(await caller.change('?canary=50')).to.equal(200);
    const { new: candidate } = await childrenOf('both');
    expect(await caller.change('/commit')).to.equal(200);
    await ended(before!);
    const after = await childrenOf('after');
    expect(after['old']).to.deep.equal([]);
    expect(after['new']).to.have.members(candidate!);
  });

  it('whose child fails is rolled back with it, and the others serve on', async () => {
    const { old: before } = await childrenOf('before');
    await write({ tag: 'new', exits: true });
    expect(await caller.change('?canary=50')).to.equal(200);
    for (let round = 0; round < 30 && (await caller.canary())!.state === 'running'; round += 1)
      await caller.marks(40, `round ${round}`);
    await gateway.line(({ msg }) => msg.startsWith('The canary was rolled back'));
    const after = await childrenOf('after');
    expect(after['old']).to.have.members(before!);
    expect(after['new']).to.deep.equal([]);
  });
});
