import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import type { GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { answered, ask, endProcesses, send } from '../workers/workers.js';
import { descendantsOf, startIsolated } from './isolated-gateway.js';
import { isolatedSuite, isRunning } from './isolated.js';

/** The sandbox of the guide. */
const wrap = /wrap: \[(.*?)\]/.exec(readFileSync('config/isolation.md', 'utf8'))![1]!.split(', ');

isolatedSuite('an isolated stage in the sandbox of the guide', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  let gateway: GatewayProcess;
  let url = '';

  before('needs bwrap, and a kernel that lets it make namespaces', function () {
    const [command = '', ...args] = wrap;
    if (spawnSync(command, [...args, process.execPath, '--version']).status !== 0) this.skip();
  });
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  const start = async (isolate: object) =>
    ({ gateway, url } = await startIsolated(upstream.url, { isolate: { wrap, ...isolate } }));

  /** Status of a request that the upstream answers. */
  async function served(): Promise<number | undefined> {
    const asked = answered(url);
    (await upstream.next()).finish();
    return (await asked).response.statusCode;
  }

  const inNamespace = (pid: number | string, kind: string) => readlinkSync(`/proc/${pid}/ns/${kind}`);

  it('has no other network and no other processes', async () => {
    await start({});
    expect(await served()).to.equal(200);
    const node = descendantsOf(gateway.pid).at(-1)!;
    expect(readFileSync(`/proc/${node}/cmdline`, 'latin1')).to.contain('--permission');
    for (const kind of ['net', 'pid', 'ipc', 'mnt'])
      expect(inNamespace(node, kind), kind).not.to.equal(inNamespace('self', kind));
  });

  it('is killed with all of its processes when it loops, and replaced', async () => {
    await start({ stall: '500ms' });
    const before = descendantsOf(gateway.pid);
    expect(before).to.have.length.above(1);
    const { response } = await send(`${url}/v1/messages`, { body: ask('Hi'), headers: { 'x-loop': '1' } });
    expect(response.statusCode).to.equal(502);
    await eventually(() => !before.some(isRunning), 2000);
    expect(await served()).to.equal(200);
  });

  it('ends with a gateway that is killed while it loops', async () => {
    await start({});
    send(`${url}/v1/messages`, { body: ask('Hi'), headers: { 'x-loop': '1' } }).catch(() => undefined); // it is cut off
    await gateway.log('Looping.');
    const all = descendantsOf(gateway.pid);
    try {
      expect(all.some(isRunning)).to.equal(true);
      gateway.signal('SIGKILL');
      await eventually(() => !all.some(isRunning), 2000);
    } finally {
      for (const pid of all) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    }
  });
});
