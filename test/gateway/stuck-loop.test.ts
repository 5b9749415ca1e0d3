import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ProcessWorkshop, type GatewayProcess } from './gateway-process.js';

const key = 'the-master-key';
const file = 'config/gateway.yaml';
const env = { GW2API_API_KEY: key };

/** Never gives the loop back where the request says so: in JavaScript, in a generator, or in a native call. */
const endless = `import { execFileSync } from 'node:child_process';
function spin() { for (;;) Math.sqrt(2); }
function* count() { for (let at = 0; ; at += 1) if (at < 0) yield at; }
const ways = {
  loop: spin,
  generator: () => [...count()],
  native: () => execFileSync('sleep', ['60']),
};
export default {
  name: 'endless',
  setup: () => (ctx, next) => (ways[ctx.headers['x-stuck']]?.(), next()),
};`;

const uses = [
  '../endless.mjs',
  'auth',
  'body-limit',
  'format-decode',
  'slot-pick',
  'upstream-call',
  'format-encode',
];

interface Settings {
  readonly workers?: number;
  readonly stuckTimeout?: string;
  readonly store?: string;
}

function configOf({ workers = 1, stuckTimeout = '1s', store }: Settings): string {
  return JSON.stringify({
    listen: { workers, stuckTimeout, shutdownTimeout: '2s' },
    pipeline: uses.map((use) => ({ use })),
    slots: [{ id: 'a', upstream: 'simulator' }],
    ...(store && { store }),
  });
}

describe('an endless loop in a request', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  afterEach(async () => {
    for (const gateway of started.splice(0)) endWorkers(gateway);
    await workshop.end();
  });
  const started: GatewayProcess[] = [];

  async function start(settings: Settings = {}, more: Readonly<Record<string, string>> = {}) {
    const cwd = await workshop.folder({ [file]: configOf(settings), 'endless.mjs': endless });
    const gateway = await workshop.start({ cwd, env: { ...env, ...more } });
    started.push(gateway);
    return { gateway, url: await gateway.url(), cwd };
  }

  for (const store of ['sqlite:data/gateway.db', 'memory'])
    it(`is logged with its place (${store})`, async () => {
      const { gateway, url } = await start({ store });
      const hung = ask(url, 'loop');
      const line = await stuckLine(gateway);
      expect(line).to.include({ level: 'error', stuckMs: 1000 });
      expect(line['plugin']).to.match(/\/endless\.mjs:2:\d+$/);
      expect((line['stack'] as string[])[0]).to.match(/at spin \(file:.*\/endless\.mjs[^:]*:2:\d+\)$/);
      await workshop.end();
      await hung;
    });

  it('ends a process that serves alone after a minute, which SIGTERM cannot reach', async function () {
    this.timeout(100_000);
    const { gateway, url } = await start();
    const hung = ask(url, 'loop');
    await stuckLine(gateway);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
    await hung;
  });

  it('of a generator names it', async () => {
    const { gateway, url } = await start({ workers: 2 });
    const hung = ask(url, 'generator');
    const line = await stuckLine(gateway);
    expect((line['stack'] as string[])[0]).to.match(/at count \(file:.*\/endless\.mjs[^:]*:3:\d+\)$/);
    await hung;
  });

  it('ends its worker alone, which is replaced', async () => {
    const { gateway, url } = await start({ workers: 2 });
    const hung = ask(url, 'loop');
    const { worker, pid } = await stuckLine(gateway);
    const died = await gateway.log('A worker has died; a replacement starts.');
    expect(died).to.include({ worker, pid, signal: 'SIGKILL' });
    await gateway.log('A replacement worker is serving.');
    await hung;
    expect(await ask(url, '')).to.equal(200);
  });

  it('in a native call is logged without a stack', async () => {
    const { gateway, url } = await start({ workers: 2 });
    const hung = ask(url, 'native');
    const line = await stuckLine(gateway);
    expect(line['stack']).to.equal(undefined);
    expect(line.msg).to.include('native call');
    await gateway.log('A worker has died; a replacement starts.');
    await hung;
  });

  it('holds up neither a reload nor the shutdown, and leaves no orphan', async () => {
    const { gateway, url, cwd } = await start({ workers: 2, stuckTimeout: '2s' });
    const hung = ask(url, 'loop');
    await writeFile(path.join(cwd, file), configOf({ workers: 2, stuckTimeout: '2s' }).replace('"a"', '"b"'));
    gateway.signal('SIGHUP');
    await gateway.log('The config was reloaded.');
    await hung;
    await gateway.log('A replacement worker is serving.');
    const again = ask(url, 'loop');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
    await again;
  });

  it('ends an orphaned worker too', async () => {
    const { gateway, url } = await start({ workers: 2 });
    const hung = ask(url, 'loop');
    gateway.signal('SIGKILL');
    await gateway.ended; // all processes that hold its output
    await hung;
  });

  it('is not looked for with stuckTimeout: 0s or while an inspector is open', async () => {
    const off = await start({ stuckTimeout: '0s' });
    const inspected = await start({}, { NODE_OPTIONS: '--inspect=127.0.0.1:0' });
    const watched = await start();
    const hung = [off, inspected, watched].map(({ url }) => ask(url, 'loop'));
    await stuckLine(watched.gateway);
    expect(stuckLines(off.gateway)).to.deep.equal([]);
    expect(stuckLines(inspected.gateway)).to.deep.equal([]);
    await workshop.end();
    await Promise.all(hung);
  });

  it('is refused a stuckTimeout that a busy machine would reach', async () => {
    const cwd = await workshop.folder({ [file]: configOf({ stuckTimeout: '10ms' }), 'endless.mjs': endless });
    const { code, stderr } = await workshop.run({ cwd, env });
    expect(code).to.equal(1);
    expect(stderr).to.match(/stuckTimeout.* must be 0s/);
  });
});

/** Kills the workers that a gateway has had, which may not end by themselves. */
function endWorkers({ pid: own, logged }: GatewayProcess): void {
  const pids = new Set(logged.flatMap(({ pid, worker }) => (worker === undefined ? [] : [Number(pid)])));
  for (const pid of pids) if (pid !== own) tryKill(pid);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** Status of a request, or `hung up`. */
async function ask(url: string, way: string): Promise<number | string> {
  const body = { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'x-stuck': way };
  return fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) }).then(
    ({ status }) => status,
    () => 'hung up',
  );
}

function stuckLine(gateway: GatewayProcess) {
  return gateway.line(({ msg }) => msg.startsWith('The event loop is stuck'));
}

function stuckLines(gateway: GatewayProcess) {
  return gateway.logged.filter(({ msg }) => msg.startsWith('The event loop is stuck'));
}
