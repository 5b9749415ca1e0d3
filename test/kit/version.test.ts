import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { TempFolders } from '../whole/temp-folders.js';

const run = promisify(execFile);

describe('the version', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  /** What a build with this environment makes of it. */
  async function built(...builds: readonly Readonly<Record<string, string>>[]): Promise<unknown> {
    const folder = await folders.make({ 'package.json': '{ "type": "module", "version": "1.2.3" }' });
    for (const file of ['kit/version.js', 'kit/package-files.js', 'build/commit.js', 'build/outputs.js'])
      await cp(path.resolve('build', file), path.join(folder, 'build', file));
    for (const env of builds)
      await run(process.execPath, ['build/build/commit.js'], { cwd: folder, env: { ...env } });
    const print = "console.log(JSON.stringify(await import('./build/kit/version.js')))";
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', print], { cwd: folder });
    return JSON.parse(stdout);
  }

  it('is that of the package', async () => {
    expect(await built({})).to.include({ version: '1.2.3', release: '1.2.3' });
  });

  it('carries the commit of its build, until one without', async () => {
    const commit = { GW_COMMIT: '0123456789ABCDEF0123456789abcdef01234567' };
    expect(await built(commit)).to.include({ version: '1.2.3+0123456789ab', release: '1.2.3' });
    expect(await built(commit, {})).to.include({ version: '1.2.3' });
  });

  it('is of no build whose commit is none', async () => {
    const message = await built({ GW_COMMIT: 'main; x' }).then(
      String,
      ({ stderr }: { stderr: string }) => stderr,
    );
    expect(message).to.include('GW_COMMIT must be a commit of 7 to 40 hexadecimal digits, not "main; x".');
  });
});
