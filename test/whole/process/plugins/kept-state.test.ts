import { expect } from 'chai';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Counts requests over reloads, and marks answers with the count and a letter of its own version. */
const count = (version: string, more = '') => `
  import { step } from './step.js';
  export default {
    name: 'count',
    setup(_, host) {
      const kept = host.keep('count', () => ({ at: 0 }), ({ at }) => host.log.info({ at }, 'let go'));
      ${more}
      return async function count(ctx, next) {
        kept.at += step;
        ctx.append('x-count', '${version}' + kept.at);
        await next();
      };
    },
  };`;

describe('state that a stage keeps', () => {
  const folders = new TempFolders();
  let upstream: HeldUpstream;
  let folder: string;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
    const files = { 'count.js': count('a'), 'step.js': 'export const step = 1;' };
    folder = await folders.make({ ...files, 'package.json': '{"type":"module"}' });
    await listed('./count.js');
    under = await startGateway(`${folder}/gateway.yaml`);
  });
  afterEach(async () => {
    await under.close();
    await upstream.close();
    await folders.remove();
  });

  const listed = (...uses: readonly string[]) => {
    const pipeline = [...uses.map((use) => ({ use })), ...stages()];
    return writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(upstream.url)], pipeline }));
  };

  async function counted(): Promise<string | null> {
    const response = under.post('/v1/messages', ask('Hi'));
    (await upstream.next()).finish();
    const { headers } = await response;
    return headers.get('x-count');
  }

  const letGo = () => under.logged.filter(({ msg }) => msg === 'let go').map(({ at }) => at);

  it('goes over to an edited plugin, and to one that imports an edited file', async () => {
    expect(await counted()).to.equal('a1');
    await writeIn(folder, 'count.js', count('b'));
    await under.gateway.reload();
    expect(await counted()).to.equal('b2');
    await writeIn(folder, 'step.js', 'export const step = 10;');
    await under.gateway.reload();
    expect(await counted()).to.equal('b12');
    expect(letGo()).to.deep.equal([]);
  });

  it('is each entry’s own where a plugin is listed twice', async () => {
    await listed('./count.js', './count.js');
    await under.gateway.reload();
    expect(await counted()).to.equal('a1, a1');
    await under.gateway.reload();
    expect(await counted()).to.equal('a2, a2');
  });

  it('is let go with the last pipeline that uses it, and made anew after that', async () => {
    expect(await counted()).to.equal('a1');
    const last = under.gateway.runtime.pipeline;
    await listed();
    await under.gateway.reload();
    await last.retire();
    expect(letGo()).to.deep.equal([1]);
    await listed('./count.js');
    await under.gateway.reload();
    expect(await counted()).to.equal('a1');
  });

  it('stays with the pipeline in force where the next one is refused', async () => {
    expect(await counted()).to.equal('a1');
    await writeIn(folder, 'count.js', count('b', 'throw new Error("no");'));
    const refused: unknown = await under.gateway.reload().catch((error: unknown) => error);
    expect(String(refused)).to.include('"count" cannot be set up: no');
    expect(letGo()).to.deep.equal([]);
    expect(await counted()).to.equal('a2');
  });
});
