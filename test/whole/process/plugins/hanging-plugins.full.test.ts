import { expect } from 'chai';
import { ProcessWorkshop } from '../../gateway-process.js';
import { hanging, yaml } from './hanging-plugins.js';

const isNotSetUp =
  'gateway.yaml:3:5 pipeline[1] "hangs" was not set up within 10 s: its setup waits for something that never happens\n';
const isNotStarted =
  'gateway.yaml:3:5 pipeline[1] "hangs" did not start within 10 s: its start waits for something that never happens\n';
const isNotLoaded = (file: string) =>
  `gateway.yaml:3:5 pipeline[1].use "./${file}" did not load within 10 s: a top-level await of its module does not settle\n`;
const isNotDisposed =
  'gateway.yaml:3:5 pipeline[1] "hangs" was not disposed within 10 s: a callback passed to onDispose does not settle\n';

describe('a process whose plugin hangs', function () {
  this.timeout(90_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('says which and ends, at the start and in check, whatever the plugin has left open', async () => {
    const cases = [
      ['setup.mjs', ['check'], 1, isNotSetUp],
      ['setup.mjs', [], 78, isNotSetUp],
      ['import.mjs', ['check'], 1, isNotLoaded('import.mjs')],
      ['import.mjs', [], 78, isNotLoaded('import.mjs')],
      ['busy.mjs', ['check'], 1, isNotSetUp],
      ['busy.mjs', [], 78, isNotSetUp],
      ['dispose.mjs', ['check'], 1, isNotDisposed],
      ['start.mjs', [], 1, isNotStarted],
    ] as const;
    const ends = cases.map(async ([file, args]) => {
      const cwd = await workshop.folder({ ...hanging, 'gateway.yaml': yaml(`./${file}`) });
      const env = { GW2API_API_KEY: 'k' };
      return workshop.spawn({ cwd, env, args: [...args, '--config', 'gateway.yaml'] });
    });
    const told = (await Promise.all(ends)).map(({ code, stdout, stderr }) => [code, stdout, stderr]);
    expect(told).to.deep.equal(cases.map(([, , code, says]) => [code, '', says]));
  });

  it('is told by the primary of several workers', async () => {
    const files = { ...hanging, 'gateway.yaml': yaml('./setup.mjs', 'listen: { workers: 2 }\n') };
    const cwd = await workshop.folder(files);
    const ended = await workshop.spawn({
      cwd,
      env: { GW2API_API_KEY: 'k' },
      args: ['--config', 'gateway.yaml'],
    });
    expect([ended.code, ended.stderr]).to.deep.equal([78, isNotSetUp]);
  });
});
