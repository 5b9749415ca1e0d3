import { expect } from 'chai';
import { ProcessWorkshop, type LogLine } from './gateway-process.js';

const key = 'the-master-key';
const file = 'config/gateway.yaml';

/** Logs `count` warnings of `size` characters, as the request asks. */
const noisy = `export default {
  name: 'noisy',
  setup: () => (ctx, next) => {
    const { count, size } = JSON.parse(ctx.headers['x-noise'] ?? '{"count":0,"size":0}');
    for (let at = 0; at < count; at += 1) ctx.state.log.warn({ text: 'x'.repeat(size) }, 'noise');
    return next();
  },
};`;

const uses = [
  '../noisy.mjs',
  'auth',
  'body-limit',
  'format-decode',
  'slot-pick',
  'upstream-call',
  'format-encode',
];

function configOf(workers: number): string {
  return JSON.stringify({
    listen: { workers },
    pipeline: uses.map((use) => ({ use })),
    slots: [{ id: 'a', upstream: 'simulator' }],
  });
}

describe('a gateway whose standard output nobody reads', function () {
  this.timeout(40_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  async function start(workers = 1) {
    const cwd = await workshop.folder({ [file]: configOf(workers), 'noisy.mjs': noisy });
    const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
    const url = await gateway.url();
    gateway.pauseOutput();
    return { gateway, url };
  }

  it('serves, drops the lines of requests and then all, and counts them', async () => {
    const { gateway, url } = await start();
    await makeNoise(url, 18, 256 * 1024);
    for (let count = 0; count < 3; count += 1) await makeNoise(url, 0);
    expect(await dropped(url)).to.deep.equal({ info: 4 });
    await makeNoise(url, 8, 256 * 1024);
    expect(await dropped(url)).to.deep.include({ info: 5 });
    const { warn = 0 } = await dropped(url);
    expect(warn).to.be.within(1, 6);

    gateway.resumeOutput();
    const told = await gateway.line(({ dropped: lines }) => lines !== undefined);
    expect([told['level'], told['dropped']]).to.deep.equal(['warn', { warn, info: 5 }]);
    await makeNoise(url, 0);
    await gateway.line(isRequest);
    expect(gateway.logged.filter(isNoise)).to.have.length(18 + 8 - warn);
    expect(gateway.logged.filter((line) => line['dropped'] !== undefined)).to.have.length(1);
    const times = gateway.logged.map(({ time }) => String(time));
    expect(times).to.deep.equal(times.toSorted());
  });

  for (const workers of [1, 2])
    it(`ends by SIGTERM with ${workers} of its processes serving`, async () => {
      const { gateway, url } = await start(workers);
      for (let count = 0; count < 2 * workers; count += 1) await makeNoise(url, 5, 256 * 1024);
      gateway.signal('SIGTERM');
      const { code, signal } = await gateway.exited;
      expect([code, signal]).to.deep.equal([0, null]);
    });

  it('gives what waits some time before it ends', async () => {
    const { gateway, url } = await start();
    await makeNoise(url, 12, 256 * 1024);
    gateway.signal('SIGTERM');
    await refused(url);
    gateway.resumeOutput();
    await gateway.ended;
    expect(gateway.logged.filter(isNoise)).to.have.length(12);
    await gateway.log('Shutting down.');
  });
});

describe('a gateway whose standard output has been closed', function () {
  this.timeout(40_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('serves on, and ends by SIGTERM', async () => {
    const cwd = await workshop.folder({ [file]: configOf(1), 'noisy.mjs': noisy });
    const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
    const url = await gateway.url();
    gateway.closeOutput();
    for (let count = 0; count < 3; count += 1) await makeNoise(url, 1, 10);
    expect(await dropped(url)).to.have.property('warn');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).to.deep.include({ code: 0 });
  });
});

/** Resolves once connections are refused, or answered with 503. */
async function refused(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(`${url}/health?ready=1`).then(
      (response) => response.status,
      () => 503,
    );
    if (status === 503) return;
  }
}

async function makeNoise(url: string, count: number, size = 0): Promise<void> {
  const body = { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      'x-noise': JSON.stringify({ count, size }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  expect(response.status).to.equal(200);
  await response.text();
}

/** Dropped lines by level, as `/metrics` has them. */
async function dropped(url: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${url}/metrics`, {
    headers: { 'x-api-key': key },
    signal: AbortSignal.timeout(5000),
  });
  const found = (await response.text()).matchAll(/^gw2api_log_lines_dropped_total\{level="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, level, count]) => [level, Number(count)]));
}

function isNoise({ msg }: LogLine): boolean {
  return msg === 'noise';
}

function isRequest({ msg }: LogLine): boolean {
  return msg === 'request';
}
