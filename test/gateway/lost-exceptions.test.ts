import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { pluginPlace } from '#src/engine/trace/plugin-place.js';
import { eventually } from '../eventually.js';
import { ProcessWorkshop, type GatewayProcess } from './gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';

const key = 'the-master-key';
const told = 'An exception was not caught; the process finishes the requests in flight, then exits.';

/** Breaks when a request has the header that says so, outside of what anybody waits for. */
const plugin = `import { EventEmitter } from 'node:events';
const ways = {
  timer: () => setTimeout(() => { throw new Error('lost'); }, 0),
  event: () => queueMicrotask(() => new EventEmitter().emit('error', new Error('lost'))),
  text: () => setTimeout(() => { throw 'lost'; }, 0),
  frozen: () => setTimeout(() => { throw Object.freeze(new Error('lost')); }, 0),
  proxy: () => setTimeout(() => { throw new Proxy(new Error(), { get() { throw 1; } }); }, 0),
};
export default {
  name: 'loses',
  operations: ['generate', 'models'],
  setup: () => async function loses(ctx, next) {
    const way = ctx.get('x-lose');
    if (way === 'signal') ctx.state.signal.addEventListener('abort', () => { throw new Error('lost'); });
    ways[way]?.();
    await next();
  },
};
`;

describe('an exception that nobody catches', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(async () => {
    await upstream.close();
    await workshop.end();
  });

  async function start(listen: object = {}): Promise<{ gateway: GatewayProcess; url: string; cwd: string }> {
    const uses = [
      'auth',
      './loses.mjs',
      'body-limit',
      'format-decode',
      'slot-pick',
      'upstream-call',
      'format-encode',
    ];
    const slots = [{ id: 'a', upstream: 'messages', baseUrl: upstream.url, account: { kind: 'none' } }];
    const config = { listen, pipeline: uses.map((use) => ({ use })), slots };
    const cwd = await workshop.folder({ 'gateway.yaml': config, 'loses.mjs': plugin });
    const env = { GW2API_API_KEY: key };
    const gateway = await workshop.start({ cwd, env, args: ['--config', 'gateway.yaml'] });
    return { gateway, url: await gateway.url(), cwd };
  }

  function stream(url: string, lose = ''): Promise<Response> {
    const messages = [{ role: 'user', content: 'Hi' }];
    return fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-lose': lose, connection: 'close' },
      body: JSON.stringify({ model: 'sonnet-5', max_tokens: 9, messages, stream: true }),
    });
  }

  function models(url: string, lose = ''): Promise<unknown> {
    const headers = { 'x-api-key': key, 'x-lose': lose, connection: 'close' };
    return fetch(`${url}/v1/models`, { headers }).then(
      ({ status }) => status,
      (error: Error & { cause?: { code?: string } }) => error.cause?.code,
    );
  }

  for (const way of ['timer', 'event', 'signal', 'text', 'frozen', 'proxy'] as const)
    it(`is one line of the log; streams finish, and the process ends with code 1: ${way}`, async () => {
      const { gateway, url, cwd } = await start();
      const answer = await stream(url);
      const held = await upstream.next();
      await models(url, way);
      const line = await gateway.log(told);
      expect(line['level']).to.equal('error');
      const hasStack = way !== 'text' && way !== 'proxy';
      if (hasStack) expect(line).to.have.nested.property('err.message', 'lost');
      if (hasStack) expect(line['plugin']).to.match(new RegExp(`^${path.join(cwd, 'loses.mjs')}:\\d+:\\d+$`));
      expect(await models(url)).to.equal('ECONNREFUSED');
      held.say(' And goodbye.');
      held.finish();
      expect(await answer.text()).to.match(/And goodbye\.[^]*message_stop/);
      const { code, signal, stderr } = await gateway.ended;
      expect([code, signal, stderr]).to.deep.equal([1, null, '']);
      expect(gateway.logged.filter(({ msg }) => msg === told)).to.have.length(1);
    });

  it('waits for streams no longer than shutdownTimeout', async () => {
    const { gateway, url } = await start({ shutdownTimeout: '50ms' });
    const answer = await stream(url);
    await models(url, 'timer');
    expect(await answer.text()).to.include('was shut down before');
    expect(await gateway.ended).to.include({ code: 1 });
  });

  it('in a worker has another one take its place, while its streams finish', async () => {
    const { gateway, url, cwd } = await start({ workers: 2 });
    const answer = await stream(url, 'signal');
    const held = await upstream.next();
    await models(url, 'timer');
    const line = await gateway.log(told);
    const leaving = await gateway.log(
      'A worker is shutting down after an uncaught exception; a replacement starts.',
    );
    expect(leaving).to.include({ worker: line['worker'], pid: line['pid'] });
    const back = await gateway.log('A replacement worker is serving.');
    expect(back['worker']).to.equal(line['worker']);
    expect(await models(url)).to.equal(200);
    await writeFile(path.join(cwd, 'gateway.yaml'), JSON.stringify(await reloadable(cwd)));
    const reloaded = await fetch(`${url}/admin/reload`, { method: 'POST', headers: { 'x-api-key': key } });
    expect(reloaded.status).to.equal(200);
    held.finish();
    expect(await answer.text()).to.include('message_stop');
    await gateway.log('A worker has exited.');
    await eventually(async () => (await models(url)) === 200);
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
  });

  async function reloadable(cwd: string): Promise<unknown> {
    return JSON.parse(await readFile(path.join(cwd, 'gateway.yaml'), 'utf8'));
  }
});

describe('the plugin of an error', () => {
  const stackOf = (...places: readonly string[]) => ({
    stack: ['Error: lost', ...places.map((place) => `    at ${place}`)].join('\n'),
  });

  it('is the first place of its stack that is nobody else’s', () => {
    const ours = new URL('../../http/exchange.js', import.meta.url).href;
    const plugins: readonly (readonly [object, string | undefined])[] = [
      [
        stackOf('node:net:1611:16', `run (${ours}:3:1)`, 'f (file:///srv/my/redact.js?mtime=1.5:12:5)'),
        '/srv/my/redact.js:12:5',
      ],
      [stackOf('Object.<anonymous> (/srv/old.cjs:3:4)'), '/srv/old.cjs:3:4'],
      [stackOf('file:///srv/a.js:1:2'), '/srv/a.js:1:2'],
      [stackOf('g (/srv/node_modules/x/i.js:1:2)', 'f (/srv/a.js:3:4)'), '/srv/a.js:3:4'],
      [stackOf('g (/srv/node_modules/x/i.js:1:2)'), '/srv/node_modules/x/i.js:1:2'],
      [stackOf('TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)'), undefined],
      [stackOf(), undefined],
      [{ stack: 5 }, undefined],
    ];
    for (const [error, place] of plugins) expect(pluginPlace(error)).to.equal(place);
    for (const nothing of [null, undefined, 'text', 5]) expect(pluginPlace(nothing)).to.equal(undefined);
  });

  it('is looked for in a stack of any size, in no time to speak of', () => {
    const stack = `    at ${'('.repeat(5_000_000)}`;
    expect(pluginPlace({ stack })).to.equal(undefined);
  });
});
