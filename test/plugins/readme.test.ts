import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { builtinPlugins } from '#src/engine/pipeline/load/listed-plugins.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { coreKeys } from '#src/plugin/contract/state.js';
import { builtinStages, loadStage } from './builtin-stages.js';

const run = promisify(execFile);
/** Within the package, so that its own name resolves, and where nothing is published from. */
const folder = join('build', 'test', 'readme');

describe('plugins/README.md', () => {
  let readme = '';
  before(async () => {
    readme = await readFile('plugins/README.md', 'utf8');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has examples that compile as they stand, and a test that passes', async function () {
    this.timeout(60_000);
    await mkdir(folder, { recursive: true });
    for (const [, name, code] of readme.matchAll(/```ts\n\/\/ (\S+\.ts)\n(.*?)```/gs))
      await writeFile(join(folder, name!), code!);
    expect((await readdir(folder)).toSorted()).to.deep.equal([
      'ask-first.ts',
      'calls.test.ts',
      'drop-sampling.ts',
      'house-style.ts',
      'lines.test.ts',
      'lines.ts',
      'mirror.ts',
      'no-empty-answers.ts',
      'stop-reasons.ts',
      'today.test.ts',
      'today.ts',
    ]);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder]);
    const tests = ['today', 'lines', 'calls'].map((name) => join(folder, `${name}.test.js`));
    const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', ...tests];
    const { stdout } = await run(process.execPath, mocha);
    expect(stdout).to.include('5 passing');
    const [, name, code] = /```js\n\/\/ (\S+\.test\.mjs)\n(.*?)```/s.exec(readme)!;
    await writeFile(join(folder, name!), code!);
    const own = await run(process.execPath, ['--test', join(folder, name!)]);
    expect(own.stdout).to.match(/\bfail 0\b/);
    expect(own.stdout).to.match(/\bpass [1-9]/);
  });

  it('points at files that the package has', async () => {
    const [, section = ''] = readme.split('## Built-ins to learn from');
    const [table = ''] = section.split('\n## ', 1);
    const files = [...table.matchAll(/`([\w/-]+\.\w+)`/g)].map(([, file]) => file!);
    expect(files).to.include('persona-inject.js');
    for (const file of files) await access(join(builtinFolder, file));
  });

  it('leads to what each stage says in its module', async () => {
    const stages = await readFile('plugins/stages.md', 'utf8');
    const rows = [...stages.matchAll(/^\| ([a-z-]+) \|(.*)\|$/gm)].map(([, name, cells]) => [
      name,
      cells!.split('|').map(list),
    ]);
    const modules = await builtinStages();
    const table = Object.fromEntries(rows.filter(([name]) => name !== 'export' && name !== 'stage'));
    expect(Object.keys(table).toSorted()).to.deep.equal([...modules.keys()].toSorted());
    for (const [name, module] of modules) {
      const { requires, provides, seals, operations } = await loadStage(module);
      expect(table[name], name).to.deep.equal([requires, provides, seals, operations]);
    }
  });

  it('names everything that is present from the start', () => {
    for (const key of coreKeys) expect(readme).to.include(`\`${key}\``);
  });

  it('leads to plugins that are written for a level of the plugin API', async () => {
    for (const { kind, use, api } of await builtinPlugins({ baseDir: '.', builtins: builtinFolder }))
      expect([kind, use, api]).to.deep.equal([kind, use, 1]);
  });

  it('leads to options of every optional stage', async () => {
    const stages = await readFile('plugins/stages.md', 'utf8');
    const modules = await builtinStages();
    const listed = new Set([...stages.matchAll(/^\*\*`([a-z-]+)`\*\*/gm)].map(([, name]) => name));
    for (const name of listed) {
      const [, section = ''] = stages.split(`\n**\`${name}\`**`);
      const [own = ''] = section.split('\n**`', 1);
      const { options } = await loadStage(modules.get(name!)!);
      for (const option of Object.keys(options['properties'] as object))
        expect(own, `${name}: ${option}`).to.match(new RegExp(`\`${option}\`|options of a route`));
    }
    expect([...listed]).to.include.members(['redact', 'guard', 'fallback', 'record', 'jwt-auth']);
  });

  it('leads to modules that are named like their plugins', async () => {
    for (const [name, module] of await builtinStages())
      expect(await loadStage(module)).to.have.property('name', name);
  });
});

const project = {
  extends: '../../../tsconfig.json',
  include: ['*.ts'],
  references: [],
  compilerOptions: {
    composite: false,
    incremental: false,
    declaration: false,
    rootDir: '.',
    types: ['node', 'mocha'],
  },
};

function list(cell: string): readonly string[] {
  return cell
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
