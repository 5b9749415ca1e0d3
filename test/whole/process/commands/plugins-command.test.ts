import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { formerPackageName, packageName } from '#src/kit/version.js';
import { stages } from '../../harness.js';
import { ProcessWorkshop } from '../../gateway-process.js';
import { writeIn } from '../../temp-folders.js';

interface Report {
  readonly installed: readonly Readonly<Record<string, string>>[];
  readonly loaded: readonly Readonly<Record<string, unknown>>[];
}

const stage = (name: string, more = '') =>
  `export default { name: '${name}', ${more} setup: () => (ctx, next) => next() };`;

const manifest = (name: string, more: object) =>
  JSON.stringify({ name, version: '1.2.3', type: 'module', exports: { import: './main.js' }, ...more });

describe('gw2api plugins', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  const keywords = ['gw2api-plugin'];
  const peerDependencies = { [packageName]: '^0.1.0' };

  function files(...uses: readonly string[]) {
    const pipeline = [...uses.map((use) => ({ use })), ...stages()];
    return {
      'config/gateway.yaml': JSON.stringify({ pipeline, slots: [{ id: 'a', upstream: 'simulator' }] }),
      'config/mine.mjs': stage('mine', 'api: 1,'),
      'node_modules/@team/their/package.json': manifest('@team/their', { keywords, peerDependencies }),
      'node_modules/@team/their/main.js': stage('their'),
      'node_modules/unused/package.json': manifest('unused', {
        keywords,
        peerDependencies: { [formerPackageName]: '^0.1.0' },
      }),
      'node_modules/unused/main.js': stage('unused'),
      'node_modules/peerless/package.json': manifest('peerless', { keywords }),
      'node_modules/other/package.json': manifest('other', { peerDependencies }),
      'node_modules/broken/package.json': '{',
    };
  }

  async function json(...uses: readonly string[]) {
    const cwd = await workshop.folder(files(...uses));
    const { stdout, code } = await workshop.run({ cwd, args: ['plugins', '--json'] });
    const report = JSON.parse(stdout.replaceAll(`${cwd}${path.sep}`, '')) as Report;
    return { report, code };
  }

  it('lists installed packages with the keyword and the peer, and no others', async () => {
    const { report, code } = await json();
    expect(code).to.equal(0);
    expect(report.installed).to.deep.equal([
      { name: '@team/their', version: '1.2.3', peer: '^0.1.0', folder: 'node_modules/@team/their' },
      { name: 'unused', version: '1.2.3', peer: '^0.1.0', folder: 'node_modules/unused' },
    ]);
  });

  it('lists what the config loads: kind, name, version, file and level', async () => {
    const { report } = await json('./mine.mjs', '@team/their');
    const outside = { provides: [], seals: [], doors: [], isolated: false };
    const [mine, their] = report.loaded;
    expect(mine!['integrity']).to.match(/^sha256-.{43}=$/);
    expect({ ...mine, integrity: '' }).to.deep.equal({
      kind: 'stage',
      use: './mine.mjs',
      name: 'mine',
      api: 1,
      file: 'config/mine.mjs',
      ...outside,
      integrity: '',
    });
    expect({ ...their, integrity: '' }).to.deep.equal({
      kind: 'stage',
      use: '@team/their',
      name: 'their',
      version: '1.2.3',
      file: 'node_modules/@team/their/main.js',
      ...outside,
      integrity: '',
    });
    const auth = report.loaded.find(({ use }) => use === 'auth');
    expect(auth)
      .to.deep.include({ provides: ['caller'] })
      .and.not.have.any.keys('integrity', 'doors');
    const kinds = report.loaded.map(({ kind, use }) => `${String(kind)} ${String(use)}`);
    expect(kinds).to.include.members(['stage auth', 'format chat', 'upstream simulator', 'account none']);
    expect(kinds).not.to.include('stage unused');
  });

  it('prints the hash for integrity, what code from outside may do, and a changed one without loading it', async () => {
    const own = files('./mine.mjs');
    const cwd = await workshop.folder({
      ...own,
      'config/mine.mjs': `import '@gw2api/gateway/plugin/raw';\n${stage('mine', "provides: ['body'], seals: ['body'],")}`,
    });
    const { stdout } = await workshop.run({ cwd, args: ['plugins'] });
    const [, integrity = ''] =
      /\.\/mine\.mjs +(sha256-\S+) +body +body +plugin\/raw +no\n/.exec(stdout) ?? [];
    expect(integrity).to.match(/^sha256-/);
    const pinned = own['config/gateway.yaml'].replace(
      '"./mine.mjs"',
      `"./mine.mjs","integrity":"${integrity}"`,
    );
    await writeIn(cwd, 'config/gateway.yaml', pinned);
    expect((await workshop.run({ cwd, args: ['plugins'] })).stdout).to.include(integrity);
    await writeIn(cwd, 'config/mine.mjs', 'process.exit(7);');
    const changed = await workshop.run({ cwd, args: ['plugins'] });
    expect(changed.code).to.equal(1);
    expect(changed.stdout).to.match(
      /FAILED: has an integrity that is sha256-\S+, but the code in mine\.mjs is sha256-\S+;/,
    );
    const refused = await workshop.run({ cwd, args: ['check'] });
    expect(refused.code).to.be.oneOf([1, 2]);
    expect(refused.stderr).to.match(/gateway\.yaml:\d+:\d+ pipeline\[0\]\.integrity: is sha256-/);
  });

  it('runs the conformance suites with the options of the config, and ends with 1 where one fails', async () => {
    const own = files('./mine.mjs', './greedy.mjs', './needy.mjs');
    const cwd = await workshop.folder({
      ...own,
      'config/greedy.mjs': `export default { name: 'greedy', setup: () => async (ctx, next) => { await next().catch(() => (ctx.body = '{}')); } };`,
      'config/needy.mjs': stage('needy', "requires: ['picker', 'ownKey'],"),
    });
    const { stdout, code } = await workshop.run({ cwd, args: ['plugins', '--check'] });
    expect(code).to.equal(1);
    expect(stdout).to.match(/✓ stage \.\/mine\.mjs \(pipeline\[0\]\): 40 passed/);
    expect(stdout).to.match(
      /✗ stage \.\/greedy\.mjs \(pipeline\[1\]\): \d+ passed, \d+ failed\n +messages, stream: lets an error of the stages below through: /,
    );
    expect(stdout).to.match(
      /- stage \.\/needy\.mjs \(pipeline\[2\]\): not checked: it requires ownKey of other/,
    );
    const alone = await workshop.folder(files('./mine.mjs'));
    const green = await workshop.run({ cwd: alone, args: ['plugins', '--check', '--json'] });
    const { checks } = JSON.parse(green.stdout) as { checks: readonly object[] };
    expect(checks).to.deep.equal([
      { kind: 'stage', use: './mine.mjs', path: 'pipeline[0]', passed: 40, failed: [] },
    ]);
    expect(green.code).to.equal(0);
  });

  it('imports nothing whose integrity is malformed, and ends with 1', async () => {
    const marked = (kind: string) =>
      `import fs from 'node:fs'; fs.writeFileSync('${kind}.imported', ''); ${stage(kind)}`;
    const kinds = ['stage', 'format', 'upstream', 'account'];
    const modules = kinds.map((kind) => [`config/${kind}.mjs`, marked(kind)] as const);
    for (const integrity of ['bad', 7]) {
      const cwd = await workshop.folder({
        ...Object.fromEntries(modules),
        'config/gateway.yaml': JSON.stringify({
          pipeline: [{ use: './stage.mjs', integrity }, ...stages()],
          formats: [{ use: './format.mjs', integrity }],
          slots: [
            {
              id: 'a',
              upstream: './upstream.mjs',
              integrity,
              baseUrl: 'http://127.0.0.1:1',
              account: { kind: './account.mjs', integrity },
            },
          ],
        }),
      });
      for (const args of [['plugins'], ['plugins', '--check'], ['check']]) {
        const { code } = await workshop.run({ cwd, args });
        expect(code, args.join(' ')).not.to.equal(0);
      }
      const imported = (await readdir(cwd)).filter((name) => name.endsWith('.imported'));
      expect(imported).to.deep.equal([]);
    }
  });

  it('says of each malformed integrity what check says, and ends with 1', async () => {
    const integrity = 'sha256-short';
    const slot = { id: 'a', upstream: 'simulator' };
    const places = {
      'formats[1].integrity': { formats: ['messages', { use: './format.mjs', integrity }] },
      'slots[0].integrity': { slots: [{ ...slot, integrity }] },
      'slots[0].account.integrity': { slots: [{ ...slot, account: { kind: 'none', integrity } }] },
      'pipeline[0].integrity': { pipeline: [{ use: './mine.mjs', integrity }, ...stages()] },
    };
    for (const [at, settings] of Object.entries(places)) {
      const whole = { pipeline: stages(), slots: [slot], ...settings };
      const cwd = await workshop.folder({ 'config/gateway.yaml': JSON.stringify(whole) });
      const checked = await workshop.run({ cwd, args: ['check'] });
      const said = checked.stderr.split('\n').find((line) => line.includes(` ${at}: `));
      expect(said, at).to.match(/^config\/gateway\.yaml:1:\d+ /);
      const { stdout, code } = await workshop.run({ cwd, args: ['plugins'] });
      expect(stdout).to.include(`\nproblems\n  ${said}\n`);
      expect(code).to.equal(1);
      const json = await workshop.run({ cwd, args: ['plugins', '--json'] });
      expect(JSON.parse(json.stdout)).to.deep.include({ problems: [said] });
      expect(json.code).to.equal(1);
    }
  });

  it('goes on where a plugin cannot be loaded, and ends with 1', async () => {
    const cwd = await workshop.folder(files('./gone.mjs', './mine.mjs'));
    const { stdout, code } = await workshop.spawn({ cwd, args: ['plugins'] });
    expect(code).to.equal(1);
    expect(stdout).to.match(/ stage +\.\/gone\.mjs .* FAILED: is not there/);
    expect(stdout).to.match(/ stage +\.\/mine\.mjs +mine +- +1 +config\/mine\.mjs/);
    expect(stdout).to.match(/ @team\/their +1\.2\.3 +gw2api \^0\.1\.0 +node_modules\/@team\/their/);
  });

  it('takes no options of other commands', async () => {
    const { stderr, code } = await workshop.run({ args: ['plugins', '--online'] });
    expect([code, stderr]).to.deep.equal([2, '--online goes with check, doctor and init; see --help.\n']);
  });
});
