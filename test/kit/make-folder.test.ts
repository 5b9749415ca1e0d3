import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { makeFolder } from '#src/plugin/index.js';

describe('making a folder', () => {
  let root: string;
  beforeEach(async () => void (root = await mkdtemp(path.join(tmpdir(), 'gw2api-folder-'))));
  afterEach(() => rm(root, { recursive: true, force: true }));

  const codeOf = (folder: string) =>
    makeFolder(folder).then(
      () => 'made',
      (error: NodeJS.ErrnoException) => error.code,
    );

  it('makes those above it, also where others make the same ones', async () => {
    const folder = path.join(root, 'a/b/c');
    await Promise.all(Array.from({ length: 20 }, () => makeFolder(folder)));
    expect((await stat(folder)).isDirectory()).to.equal(true);
  });

  it('fails where a file, or a link to nothing, stands in its place', async () => {
    await writeFile(path.join(root, 'file'), '');
    await symlink(path.join(root, 'nowhere'), path.join(root, 'link'));
    for (const place of ['file', 'file/below', 'link', 'link/below'])
      expect(await codeOf(path.join(root, place)), place).to.equal('EEXIST');
  });
});
