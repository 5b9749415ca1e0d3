import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { request } from 'undici';

const entry = join('dist', 'plugins', 'upstreams', 'simulator', 'main.js');

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('node dist/plugins/upstreams/simulator/main.js', () => {
  it('says where it is, answers there, and ends on SIGTERM', async () => {
    const child = start('--port', '0');
    const [line] = (await once(child.stdout!, 'data')) as [Buffer];
    const url = /^gw2api simulator on (http:\S+)\n$/.exec(line.toString())?.[1];
    const { statusCode, body } = await request(`${url}/`);
    await body.dump();
    expect(statusCode).to.equal(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('lists its options and every scenario', async () => {
    const child = start('--help');
    const help = await text(child.stdout!);
    for (const name of ['--port', '529', 'stall', 'crlf', 'interleave', 'windows', 'times=N'])
      expect(help).to.include(name);
  });

  it('says what is wrong with its arguments', async () => {
    const child = start('--port', 'x');
    const exited = once(child, 'exit');
    expect(await text(child.stderr!)).to.equal('--port must be a whole number from 0 to 65535, not "x".\n');
    expect((await exited)[0]).to.equal(1);
  });
});
