import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { packageName } from '#src/kit/version.js';
import { kinds, NewWorkshop } from './new-command.js';
import { writeIn } from '../../temp-folders.js';

interface Manifest {
  readonly peerDependencies: object;
}

describe('gw2api new', () => {
  const workshop = new NewWorkshop();
  before(async function () {
    this.timeout(60_000);
    await workshop.install();
  });
  afterEach(() => workshop.clear());
  after(() => workshop.end());

  it('writes packages in TypeScript, which compile and pass', async () => {
    const cwd = await workshop.folder();
    for (const kind of kinds) await workshop.run(cwd, 'new', kind, `my-${kind}`, '--package', '--ts');
    // One compilation by the options of one of them, since each takes seconds.
    await writeIn(cwd, 'tsconfig.json', { extends: './my-stage/tsconfig.json', include: ['*/*.ts'] });
    await workshop.compile(cwd, ['-p', '.']);
    await workshop.pass(
      cwd,
      kinds.map((kind) => `my-${kind}/my-${kind}.test.js`),
    );
    for (const kind of kinds) {
      const folder = path.join(cwd, `my-${kind}`);
      const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Manifest;
      expect(manifest).to.deep.include({ name: `gw2api-my-${kind}`, keywords: ['gw2api-plugin'] });
      expect(manifest.peerDependencies).to.have.property(packageName);
    }
    await workshop.isListed(cwd, 'stage', './my-stage/my-stage.js');
  }).timeout(120_000);

  it('writes a package in JavaScript, and files in TypeScript', async () => {
    const { cwd } = await workshop.write('stage', 'my-own', '--package');
    const { stdout } = await workshop.run(cwd, 'new', 'stage', 'my-other', '--ts');
    const [, command] = /compile it: {2}npx tsc (.*)/.exec(stdout)!;
    await workshop.compile(cwd, command!.split(' '));
    await workshop.pass(cwd, ['my-own/my-own.test.js', 'my-other.test.mjs']);
  }).timeout(60_000);
});
