import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type * as ours from '#src/kit/package-files.js';

type PackageFiles = typeof ours;

/** First arguments of a function in the sources, as far as they are plain texts. */
function argumentsOf(name: string): readonly string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.flatMap((file) => {
    const text = readFileSync(path.join('src', file), 'utf8');
    return Array.from(
      text.matchAll(new RegExp(String.raw`\b${name}\(\s*'([^']*)'`, 'g')),
      ([, given = '']) => given,
    );
  });
}

for (const tree of ['build/kit', 'dist/chunks'])
  describe(`the files that ${tree} finds`, () => {
    let found: PackageFiles;
    before(async () => {
      found = (await import(pathToFileURL(path.resolve(tree, 'package-files.js')).href)) as PackageFiles;
    });

    it('are in the package', () => {
      const files = argumentsOf('packageFile').filter((file) => file !== 'dist/commit');
      expect(files).to.include.members(['config/models.yaml', 'package.json']);
      expect(files.map(found.packageFile).filter((file) => !existsSync(file))).to.deep.equal([]);
    });

    it('are in the program', () => {
      const files = [...argumentsOf('programFile'), ...argumentsOf('programUrl')];
      expect(files).to.include.members(['server.js', 'plugins/', 'state/store/sql/sqlite/sqlite-worker.js']);
      expect(files.map(found.programFile).filter((file) => !existsSync(file))).to.deep.equal([]);
    });
  });
