import { access, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { stages } from '../../harness.js';
import { kinds, NewWorkshop } from './new-command.js';
import { writeIn } from '../../temp-folders.js';

describe('gw2api new', () => {
  const workshop = new NewWorkshop();
  before(async function () {
    this.timeout(60_000);
    await workshop.install();
  });
  afterEach(() => workshop.clear());
  after(() => workshop.end());

  for (const kind of kinds)
    it(`writes a ${kind} that a config can list`, async () => {
      const { cwd, code, stdout } = await workshop.write(kind, 'my-own');
      expect(code).to.equal(0);
      expect(stdout).to.include('my-own.mjs').and.include('my-own.test.mjs');
      await workshop.isListed(cwd, kind, './my-own.mjs');
    });

  for (const [name, called] of [
    ['my-own', 'myOwn'],
    ['delete', 'deleteStage'],
  ] as const)
    it(`names the function of the stage "${name}" ${called}`, async () => {
      const { cwd } = await workshop.write('stage', name);
      expect(await readFile(path.join(cwd, `${name}.mjs`), 'utf8')).to.include(`async function ${called}(`);
      await workshop.isListed(cwd, 'stage', `./${name}.mjs`);
    });

  it('writes tests that pass', async () => {
    const cwd = await workshop.folder();
    for (const kind of kinds) await workshop.run(cwd, 'new', kind, `my-${kind}`);
    await workshop.pass(
      cwd,
      kinds.map((kind) => `my-${kind}.test.mjs`),
    );
  }).timeout(60_000);

  for (const [what, from, config, use] of [
    ['the folder above that of the config', '.', 'config/gateway.yaml', '../my-own.mjs'],
    ['the folder of the config', 'config', 'config/gateway.yaml', './my-own.mjs'],
    ['a folder below it', 'config/my-plugins', 'config/gateway.yaml', './my-plugins/my-own.mjs'],
    ['beside it', '.', 'gateway.yaml', './my-own.mjs'],
  ] as const)
    it(`prints the path that the config takes, called from ${what}`, async () => {
      const root = await workshop.folder({ [config]: '', [`${from}/kept`]: '' });
      const cwd = path.join(root, from);
      const { stdout } = await workshop.run(cwd, 'new', 'stage', 'my-own');
      const [, printed, where] = /^list it under pipeline: {2}- use: (\S+) {2}\(in (\S+)\)$/m.exec(stdout)!;
      expect(printed).to.equal(use);
      expect(path.join(cwd, where!)).to.equal(path.join(root, config));
      const stage = [...stages().slice(0, 3), { use: printed }, ...stages().slice(3)];
      const text = { pipeline: stage, slots: [{ id: 'a', upstream: 'simulator' }], store: 'memory' };
      await writeIn(root, config, text);
      const checked = await workshop.run(root, 'check', '--config', config);
      expect([checked.code, checked.stderr]).to.deep.equal([0, '']);
    });

  it('writes a package that is tested with the gateway that has written it', async () => {
    const { cwd, stdout } = await workshop.write('stage', 'my-own', '--package');
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
    const { cwd } = await workshop.write('stage', 'my-own');
    await rename(path.join(cwd, 'my-own.mjs'), path.join(cwd, 'kept.mjs'));
    const before = await readFile(path.join(cwd, 'my-own.test.mjs'), 'utf8');
    const { code, stderr } = await workshop.run(cwd, 'new', 'account', 'my-own');
    expect([code, stderr]).to.deep.equal([
      2,
      'my-own.test.mjs already exists; choose another name, or move it away.\n',
    ]);
    expect(await readFile(path.join(cwd, 'my-own.test.mjs'), 'utf8')).to.equal(before);
    await access(path.join(cwd, 'my-own.mjs')).then(
      () => expect.fail('It was written.'),
      () => undefined,
    );
  });

  for (const [ending, ...flags] of [['mjs'], ['py', '--python']] as const)
    it(`writes a server of remote stages as NAME.${ending}, and never overwrites it`, async () => {
      const { cwd, code, stdout } = await workshop.write('remote', 'my-guard', ...flags);
      expect(code).to.equal(0);
      expect(stdout).to.include(`  my-guard.${ending}\n`).and.include(`PORT=9400 `);
      const reference = await readFile(`config/examples/remote.${ending}`, 'utf8');
      const written = await readFile(path.join(cwd, `my-guard.${ending}`), 'utf8');
      expect(written).to.equal(reference.replace(`remote.${ending}`, `my-guard.${ending}`));
      const again = await workshop.run(cwd, 'new', 'remote', 'my-guard', ...flags);
      expect([again.code, again.stderr]).to.deep.equal([
        2,
        `my-guard.${ending} already exists; choose another name, or move it away.\n`,
      ]);
    });

  it('prints an entry for a remote stage that a config can list', async () => {
    const { cwd, stdout } = await workshop.write('remote', 'my-guard');
    const [, entry] = /^list it under pipeline: {2}- (.*)$/m.exec(stdout)!;
    const pipeline = [...stages().slice(0, 3), parse(entry!) as object, ...stages().slice(3)];
    const text = { pipeline, slots: [{ id: 'a', upstream: 'simulator' }], store: 'memory' };
    await writeIn(cwd, 'gateway.yaml', text);
    const checked = await workshop.run(cwd, 'check', '--config', 'gateway.yaml');
    expect(checked.stderr).to.include('REMOTE_SECRET');
    await writeIn(cwd, '.env', 'REMOTE_SECRET=whsec_c2VjcmV0');
    const { code, stderr } = await workshop.run(cwd, 'check', '--config', 'gateway.yaml');
    expect([code, stderr]).to.deep.equal([0, '']);
  });

  const refusals: readonly (readonly [args: readonly string[], says: string])[] = [
    [['stag', 'x'], '"stag" is not a kind of plugin; did you mean "stage"?'],
    [[], 'The kind of plugin is missing; write gw2api new stage|format|upstream|account|remote NAME.'],
    [['stage'], 'The name is missing: gw2api new stage NAME.'],
    [
      ['stage', '../x'],
      '"../x" is not a valid name: use lower-case letters, digits and hyphens, such as my-stage.',
    ],
    [['format', 'chat'], '"chat" is a built-in format; choose another name.'],
    [['remot', 'x'], '"remot" is not a kind of plugin; did you mean "remote"?'],
    [['remote'], 'The name is missing: gw2api new remote NAME.'],
    [
      ['remote', '../x'],
      '"../x" is not a valid name: use lower-case letters, digits and hyphens, such as my-remote.',
    ],
    [['remote', 'x', '--ts'], '--ts goes with plugins, not with remote.'],
    [['stage', 'x', '--python'], '--python goes with gw2api new remote NAME.'],
    [['stage', 'a', 'b'], '"b" is one argument too many for new; see --help.'],
  ];
  for (const [args, says] of refusals)
    it(`refuses "${args.join(' ')}" and says what to write`, async () => {
      const { code, stderr } = await workshop.write(...args);
      expect([code, stderr]).to.deep.equal([2, `${says}\n`]);
    });
});
