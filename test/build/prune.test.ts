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
      'src/build/outputs.ts': '',
      'plugins/auth.ts': '',
      'test/auth.test.ts': '',
      'build/server.js': '',
      'build/server.d.ts': '',
      'build/plugins/auth.js.map': '',
      'build/test/auth.test.js': '',
      'build/test.tsbuildinfo': '',
      'dist/commit': '',
      'dist/gone.js': '',
      'package.json': '{"type":"module"}',
    };
    const stale = { 'build/auth.js': '', 'build/plugins/moved.d.ts': '', 'build/test/old/auth.test.js': '' };
    const steps = ['build/build/prune.js', 'build/build/outputs.js'];
    const folder = await folders.make({ ...kept, ...stale, 'build/build/prune.js': '' });
    for (const step of steps) await copyFile(step, path.join(folder, step));
    await promisify(execFile)(process.execPath, ['build/build/prune.js'], { cwd: folder });
    const left = (await readdir(folder, { recursive: true })).filter((name) =>
      /\.|commit/.test(path.basename(name)),
    );
    expect(left).to.have.members([...Object.keys(kept), ...steps]);
  });
});
