import { execFile } from 'node:child_process';
import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { TempFolders } from '../whole/temp-folders.js';

describe('the build', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  it('removes outputs without a source, and nothing else', async () => {
    const kept = {
      'src/server.ts': '',
      'src/build/prune.ts': '',
      'plugins/auth.ts': '',
      'test/auth.test.ts': '',
      'dist/server.js': '',
      'dist/server.d.ts': '',
      'dist/plugins/auth.js.map': '',
      'dist/test/auth.test.js': '',
      'dist/test.tsbuildinfo': '',
      'dist/commit': '',
      'dist/console/web/assets/page.js': '',
      'package.json': '{"type":"module"}',
    };
    const stale = { 'dist/auth.js': '', 'dist/plugins/moved.d.ts': '', 'dist/test/old/auth.test.js': '' };
    const folder = await folders.make({ ...kept, ...stale, 'dist/build/prune.js': '' });
    await copyFile('dist/build/prune.js', path.join(folder, 'dist/build/prune.js'));
    await promisify(execFile)(process.execPath, ['dist/build/prune.js'], { cwd: folder });
    const left = (await readdir(folder, { recursive: true })).filter((name) =>
      /\.|commit/.test(path.basename(name)),
    );
    expect(left).to.have.members([...Object.keys(kept), 'dist/build/prune.js']);
  });
});
