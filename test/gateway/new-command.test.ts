import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageName } from '#src/kit/version.js';
import { stages } from './harness.js';
import { ProcessWorkshop } from './gateway-process.js';
import { TempFolders, writeIn } from './temp-folders.js';

const run = promisify(execFile);

const kinds = ['stage', 'format', 'upstream', 'account'] as const;

/** A config that lists a plugin of each kind. */
const listings: Readonly<Record<(typeof kinds)[number], (use: string) => object>> = {
  stage: (use) => ({ pipeline: [...stages().slice(0, 3), { use }, ...stages().slice(3)] }),
  format: (use) => ({ formats: ['messages', use] }),
  upstream: (use) => ({ slots: [{ id: 'a', upstream: use, baseUrl: 'http://127.0.0.1:9' }] }),
  account: (use) => ({
    slots: [
      {
        id: 'a',
        upstream: 'messages',
        baseUrl: 'http://127.0.0.1:9',
        account: { kind: use, team: 'red', key: 'test-key-1' },
      },
    ],
  }),
};

interface Manifest {
  readonly peerDependencies: object;
}

describe('gw2api new', () => {
  const workshop = new ProcessWorkshop();
  const folders = new TempFolders();
  /** `node_modules` of a folder in which the packed gateway is installed. */
  let modules = '';

  before(async function () {
    this.timeout(60_000);
    const folder = await folders.make();
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: path.resolve('.') });
    const file = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
    await run('tar', ['-xzf', file!], { cwd: folder });
    modules = path.join(folder, 'node_modules');
    await mkdir(modules);
    for (const name of await readdir('node_modules'))
      if (!name.startsWith('.')) await symlink(path.resolve('node_modules', name), path.join(modules, name));
    await mkdir(path.dirname(path.join(modules, packageName)));
    await rename(path.join(folder, 'package'), path.join(modules, packageName));
  });
  after(() => folders.remove());
  afterEach(() => workshop.end());

  async function write(...args: readonly string[]) {
    const cwd = await workshop.folder();
    await symlink(modules, path.join(cwd, 'node_modules'));
    const { code, stdout, stderr } = await workshop.run({ cwd, args: ['new', ...args] });
    return { cwd, code, stdout, stderr };
  }

  async function passes(cwd: string, file: string): Promise<void> {
    const mocha = path.join(modules, 'mocha/bin/mocha.js');
    const { stdout } = await run(process.execPath, [mocha, file], { cwd });
    expect(stdout)
      .to.match(/\d passing/)
      .and.not.include('failing');
  }

  async function compile(cwd: string, args: readonly string[]): Promise<void> {
    await run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), ...args], { cwd });
  }

  async function isListed(cwd: string, kind: (typeof kinds)[number], use: string): Promise<void> {
    const base = { pipeline: stages(), slots: [{ id: 'a', upstream: 'simulator' }], store: 'memory' };
    await writeIn(cwd, 'gateway.yaml', { ...base, ...listings[kind](use) });
    const { code, stderr } = await workshop.run({ cwd, args: ['check', '--config', 'gateway.yaml'] });
    expect([code, stderr]).to.deep.equal([0, '']);
  }

  for (const kind of kinds) {
    it(`writes a ${kind} whose test passes, and which a config can list`, async () => {
      const { cwd, code, stdout } = await write(kind, 'my-own');
      expect(code).to.equal(0);
      expect(stdout).to.include('my-own.mjs').and.include('my-own.test.mjs');
      await passes(cwd, 'my-own.test.mjs');
      await isListed(cwd, kind, './my-own.mjs');
    }).timeout(60_000);
  }

  it('writes packages in TypeScript, which compile and pass', async () => {
    const cwd = await workshop.folder();
    await symlink(modules, path.join(cwd, 'node_modules'));
    for (const kind of kinds)
      await workshop.run({ cwd, args: ['new', kind, `my-${kind}`, '--package', '--ts'] });
    // One compilation by the options of one of them, since each takes seconds.
    await writeIn(cwd, 'tsconfig.json', { extends: './my-stage/tsconfig.json', include: ['*/*.ts'] });
    await compile(cwd, ['-p', '.']);
    for (const kind of kinds) {
      const folder = path.join(cwd, `my-${kind}`);
      await passes(folder, `my-${kind}.test.js`);
      const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Manifest;
      expect(manifest).to.deep.include({ name: `gw2api-my-${kind}`, keywords: ['gw2api-plugin'] });
      expect(manifest.peerDependencies).to.have.property(packageName);
    }
    await isListed(cwd, 'stage', './my-stage/my-stage.js');
  }).timeout(120_000);

  it('writes a package in JavaScript, and files in TypeScript', async () => {
    const { cwd } = await write('stage', 'my-own', '--package');
    await passes(path.join(cwd, 'my-own'), 'my-own.test.js');
    const { cwd: other, stdout } = await write('stage', 'my-own', '--ts');
    const [, command] = /compile it: {2}npx tsc (.*)/.exec(stdout)!;
    await compile(other, command!.split(' '));
    await passes(other, 'my-own.test.mjs');
  }).timeout(60_000);

  for (const [what, from, config, use] of [
    ['the folder above that of the config', '.', 'config/gateway.yaml', '../my-own.mjs'],
    ['the folder of the config', 'config', 'config/gateway.yaml', './my-own.mjs'],
    ['a folder below it', 'config/my-plugins', 'config/gateway.yaml', './my-plugins/my-own.mjs'],
    ['beside it', '.', 'gateway.yaml', './my-own.mjs'],
  ] as const)
    it(`prints the path that the config takes, called from ${what}`, async () => {
      const root = await workshop.folder({ [config]: '', [`${from}/kept`]: '' });
      await symlink(modules, path.join(root, 'node_modules'));
      const cwd = path.join(root, from);
      const { stdout } = await workshop.run({ cwd, args: ['new', 'stage', 'my-own'] });
      const [, printed, where] = /^list it under pipeline: {2}- use: (\S+) {2}\(in (\S+)\)$/m.exec(stdout)!;
      expect(printed).to.equal(use);
      expect(path.join(cwd, where!)).to.equal(path.join(root, config));
      const stage = [...stages().slice(0, 3), { use: printed }, ...stages().slice(3)];
      const text = { pipeline: stage, slots: [{ id: 'a', upstream: 'simulator' }], store: 'memory' };
      await writeIn(root, config, text);
      const checked = await workshop.run({ cwd: root, args: ['check', '--config', config] });
      expect([checked.code, checked.stderr]).to.deep.equal([0, '']);
    });

  it('writes a package that is tested with the gateway that has written it', async () => {
    const { cwd, stdout } = await write('stage', 'my-own', '--package');
    const { devDependencies } = JSON.parse(await readFile(path.join(cwd, 'my-own/package.json'), 'utf8')) as {
      devDependencies: Readonly<Record<string, string>>;
    };
    const { name, version } = JSON.parse(await readFile('package.json', 'utf8')) as {
      name: string;
      version: string;
    };
    const [, folder] = /^file:(.+)$/.exec(devDependencies[name]!)!;
    const found = await readFile(path.join(cwd, 'my-own', folder!, 'package.json'), 'utf8');
    expect(JSON.parse(found)).to.deep.include({ name, version });
    expect(stdout).to.include('cd my-own && npm install && npm test').and.include('npm install ./my-own');
  });

  it('never overwrites, and then writes nothing', async () => {
    const { cwd } = await write('stage', 'my-own');
    await rename(path.join(cwd, 'my-own.mjs'), path.join(cwd, 'kept.mjs'));
    const before = await readFile(path.join(cwd, 'my-own.test.mjs'), 'utf8');
    const { code, stderr } = await workshop.run({ cwd, args: ['new', 'account', 'my-own'] });
    expect([code, stderr]).to.deep.equal([
      2,
      'my-own.test.mjs is there already; take another name, or move it away.\n',
    ]);
    expect(await readFile(path.join(cwd, 'my-own.test.mjs'), 'utf8')).to.equal(before);
    await access(path.join(cwd, 'my-own.mjs')).then(
      () => expect.fail('It was written.'),
      () => undefined,
    );
  });

  const refusals: readonly (readonly [args: readonly string[], says: string])[] = [
    [['stag', 'x'], '"stag" is not a kind of plugin; did you mean "stage"?'],
    [[], 'The kind of plugin is missing; write gw2api new stage|format|upstream|account NAME.'],
    [['stage'], 'The name is missing: gw2api new stage NAME.'],
    [
      ['stage', '../x'],
      '"../x" is not a name: small letters and digits, with hyphens between, such as my-stage.',
    ],
    [['format', 'chat'], '"chat" is a built-in format; take another name.'],
    [['stage', 'a', 'b'], '"b" is one word too many for new; see --help.'],
  ];
  for (const [args, says] of refusals)
    it(`refuses "${args.join(' ')}" and says what to write`, async () => {
      const { code, stderr } = await write(...args);
      expect([code, stderr]).to.deep.equal([2, `${says}\n`]);
    });
});
