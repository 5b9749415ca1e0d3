import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { stages } from '../../harness.js';
import { ProcessWorkshop } from '../../gateway-process.js';

const config = (more: object) =>
  JSON.stringify({ pipeline: stages(), slots: [{ id: 'a', upstream: 'simulator' }], ...more });

describe('gw2api diff', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  const files = {
    'old.yaml': config({}),
    'same.yaml': config({ listen: { drainDelay: '0s' } }),
    'new.yaml': config({
      listen: { backlog: 128 },
      pipeline: stages({ with: { 'body-limit': { limit: '${LIMIT:-1mb}' } }, without: ['cache-ttl'] }),
      slots: [{ id: 'a', upstream: 'simulator', weight: 2 }],
    }),
    'bad.yaml': config({ slots: [] }),
    'disordered.yaml': config({ pipeline: stages().toReversed() }),
  };

  async function run(...args: readonly string[]) {
    return workshop.run({ cwd: await workshop.folder(files), args: ['diff', ...args] });
  }

  it('says nothing but that, and ends with 0, where nothing would change', async () => {
    const cwd = await workshop.folder(files);
    const { stdout, code } = await workshop.spawn({ cwd, args: ['diff', 'old.yaml', 'same.yaml'] });
    expect([code, stdout]).to.deep.equal([0, 'No differences.\n']);
  });

  it('says in groups what would change, and ends with 1', async () => {
    const { stdout, code } = await run('old.yaml', 'new.yaml');
    expect(code).to.equal(1);
    expect(stdout).to.equal(`stages
  ~ body-limit
      ~ with.limit: 128mb -> \${LIMIT:-1mb}
  - cache-ttl

slots
  ~ a
      ~ weight: 1 -> 2

settings
  ~ listen.backlog: 4096 -> 128 (needs a restart)

Restart the gateway for: listen.
`);
  });

  it('prints the same as JSON', async () => {
    const { stdout, code } = await run('--json', 'old.yaml', 'new.yaml');
    expect(code).to.equal(1);
    expect(JSON.parse(stdout)).to.deep.equal({
      stages: [
        {
          name: 'body-limit',
          change: 'changed',
          settings: [{ path: 'with.limit', change: 'changed', before: '128mb', after: '${LIMIT:-1mb}' }],
        },
        { name: 'cache-ttl', change: 'removed', settings: [] },
      ],
      pipelines: [],
      formats: [],
      slots: [
        {
          name: 'a',
          change: 'changed',
          settings: [{ path: 'weight', change: 'changed', before: 1, after: 2 }],
        },
      ],
      models: [],
      settings: [{ path: 'listen.backlog', change: 'changed', before: 4096, after: 128, restart: true }],
      restart: ['listen'],
    });
  });

  for (const [what, args, says] of [
    ['a config that is bad', ['old.yaml', 'bad.yaml'], /^bad\.yaml:1:\d+ slots: /],
    ['an order that cannot work', ['disordered.yaml', 'old.yaml'], /^disordered\.yaml:1:\d+ pipeline\[0\] "/],
    ['a file that is not there', ['gone.yaml', 'old.yaml'], /^gone\.yaml:1:1 the file does not exist/],
    ['one file', ['old.yaml'], /^diff takes two config files, OLD and NEW; see --help\.$/m],
    ['three files', ['old.yaml', 'new.yaml', 'bad.yaml'], /^"bad\.yaml" is one argument too many for diff/],
  ] as const)
    it(`ends with 2 for ${what}, and says so on standard error`, async () => {
      const { stdout, stderr, code } = await run(...args);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.match(says);
    });

  it('compares the configs that are shipped', async () => {
    const args = ['gateway.yaml', 'gateway.reference.yaml'].map((name) => path.resolve('config', name));
    const { stdout, code } = await run(...args);
    expect(code).to.equal(1);
    const reference = await readFile(args[1]!, 'utf8');
    const [, key] = /clientSecret: "?([^"\s]+)/.exec(reference) ?? [];
    expect(stdout).to.include('+ account.clientSecret: added (value not shown)');
    expect(key, 'a secret in the reference').to.be.a('string');
    expect(stdout).not.to.include(key);
  });
});
