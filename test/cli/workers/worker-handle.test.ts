import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { WorkerHandle } from '#src/cli/workers/worker-handle.js';

describe('a worker as the primary sees it', () => {
  it('may be killed before it hears what is sent to it', async function () {
    if (process.platform !== 'linux') this.skip(); // the state of a process is in /proc
    cluster.setupPrimary({ exec: fileURLToPath(new URL('idle-worker.js', import.meta.url)), args: [] });
    const member = new WorkerHandle('1');
    const worker = Object.values(cluster.workers ?? {}).at(-1)!;
    await once(worker, 'online');
    process.kill(member.pid!, 'SIGKILL');
    while (!hasDied(member.pid!)); // and nothing of it is heard meanwhile
    worker.process.send({ cmd: 'as the cluster module answers a worker' });
    expect(await member.ended).to.include({ signal: 'SIGKILL', hasServed: false });
  });
});

function hasDied(pid: number): boolean {
  return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
