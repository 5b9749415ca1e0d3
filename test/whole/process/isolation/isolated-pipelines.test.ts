import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { TempFolders } from '../../temp-folders.js';
import { isolatedSuite, stageModule, withStage } from './isolated.js';

const own = stageModule(
  `requires: ['request'],`,
  `return (ctx, next) => (ctx.set('x-pid', String(process.pid)), next());`,
);

isolatedSuite('the isolation of a stage in named pipelines', () => {
  const folders = new TempFolders();
  let pair: Pair;
  let folder = '';
  before(async () => {
    folder = await folders.make({ 'own.mjs': own });
  });
  afterEach(() => pair.close());
  after(() => folders.remove());

  const start = async (entry: object, change: object) => {
    const use = `${folder}/own.mjs`;
    pair = await startPair({
      pipeline: withStage({ use, ...entry }, stages()),
      pipelines: [{ name: 'red', when: { header: { 'x-red': '*' } }, changes: [{ set: use, ...change }] }],
    });
  };
  const pidOf = async (headers = {}) => {
    const response = await pair.post('/v1/messages', ask('Hi'), headers);
    await response.text();
    return Number(response.headers.get('x-pid'));
  };

  it('begins by a change of one', async () => {
    await start({}, { isolate: true });
    expect(await pidOf()).to.equal(process.pid);
    expect(await pidOf({ 'x-red': '1' }))
      .to.be.above(0)
      .and.not.equal(process.pid);
  });

  it('ends by a change of one, and has another process with other settings', async () => {
    await start({ isolate: true }, { isolate: false });
    expect(await pidOf())
      .to.be.above(0)
      .and.not.equal(process.pid);
    expect(await pidOf({ 'x-red': '1' })).to.equal(process.pid);
    await pair.close();
    await start({ isolate: true }, { isolate: { memory: '200mb' } });
    const pids = new Set([process.pid, await pidOf(), await pidOf({ 'x-red': '1' })]);
    expect(pids.size).to.equal(3);
  });
});
