import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { TempFolders } from '../../temp-folders.js';
import { p99, startTickingUpstream, tickDelays, type TickingUpstream } from './healthy-streams.js';
import { isolatedSuite, stageModule, withStage } from './isolated.js';

/** Code of a stage that harms its process, and the status of its request. */
const harms: readonly (readonly [name: string, code: string])[] = [
  ['loops in a request', 'for (;;);'],
  ['matches an expression of exponential time', `/^(a+)+$/.test('a'.repeat(40) + '!');`],
  ['grows a Map', 'const map = new Map(); for (let at = 0; ; at += 1) map.set(at, {});'],
  ['grows an array', 'const list = []; for (;;) list.push({});'],
  ['grows a string', `const texts = []; for (let at = 0; ; at += 1) texts.push(String(at).repeat(9999));`],
  [
    'keeps buffers',
    'const kept = []; for (;;) { kept.push(Buffer.alloc(1e6, 1)); await new Promise((go) => setTimeout(go, 1)); }',
  ],
  ['exits', 'process.exit(0);'],
  ['aborts', 'process.abort();'],
  ['rejects a promise', `Promise.reject(new Error('lost')); await new Promise(() => {});`],
  ['throws in a timer', `setTimeout(() => { throw new Error('late'); }); await new Promise(() => {});`],
  [
    'announces a message of 1 GB',
    'fs.writeSync(3, Buffer.from([0x40, 0, 0, 0, 1])); await new Promise(() => {});',
  ],
  ['sends a message of 10⁵ levels', `frame('['.repeat(1e5) + ']'.repeat(1e5)); await new Promise(() => {});`],
  ['answers twice', `frame('["result",1,null],["result",1,null]'); await new Promise(() => {});`],
  [
    'floods its connection',
    `for (;;) frame(Array.from({ length: 999 }, () => '["note","print","x"]').join());`,
  ],
  ['closes its connection', 'fs.closeSync(3); await new Promise(() => {});'],
];

/** Expressions of a stage that reach nothing. */
const refused: readonly (readonly [name: string, code: string])[] = [
  ['/etc/passwd', `fs.readFileSync('/etc/passwd', 'utf8')`],
  ['.env', `fs.readFileSync(host.resolvePath('.env'), 'utf8')`],
  ['the environment of its parent', `fs.readFileSync('/proc/' + process.ppid + '/environ')`],
  ['a file to write', `fs.writeFileSync(host.resolvePath('own.txt'), 'x')`],
  ['fetch', `await fetch('http://127.0.0.1:1/')`],
  ['net', `await import('node:net')`],
  ['http', `await import('http')`],
  ['sqlite', `await import('node:sqlite')`],
  ['child_process', `await import('node:child_process')`],
  ['worker_threads', `await import('node:worker_threads')`],
  ['module', `await import('node:module')`],
  ['getBuiltinModule', `process.getBuiltinModule('net').connect(1)`],
  ['binding', `process.binding('tcp_wrap')`],
  ['the constructor of stderr', `new process.stderr.constructor().connect(1)`],
  ['handles', `process._getActiveHandles()[0].constructor`],
  ['kill', `process.kill(process.ppid, 'SIGKILL')`],
  ['_debugProcess', `process._debugProcess(1)`],
  ['the loader of CommonJS', `required()`],
  ['a client of the gateway', `await sdk.externalFetch({})('http://127.0.0.1:1/')`],
];

const head = `import fs from 'node:fs';
import required from './required.cjs';
const frame = (text) => { const body = Buffer.from('[' + text + ']'); const size = Buffer.alloc(4); size.writeUInt32BE(body.length); fs.writeSync(3, size); fs.writeSync(3, body); };`;

isolatedSuite('a hostile stage in a child process', function () {
  this.timeout(120_000);
  const folders = new TempFolders();
  let upstream: TickingUpstream;
  let under: GatewayUnderTest;
  let folder: string;

  const bad = (setup: string) => stageModule(`requires: ['request'], intercepts: true,`, setup, head);
  const passing = 'intercept: (request, call) => call(request)';
  const inRequest = (code: string) =>
    bad(`return { async middleware(ctx, next) { ${code} await next(); }, ${passing} };`);
  const isBad = { header: { 'x-bad': '*' } };

  before(async () => {
    upstream = await startTickingUpstream();
    const own = {
      use: './own.mjs',
      when: isBad,
      isolate: { stall: '500ms', memory: '160mb' },
      timeout: '8s',
    };
    const good = { use: './good.mjs', name: 'good', when: { not: isBad }, isolate: true };
    const pipeline = withStage(
      good,
      withStage(own, stages({ without: ['persona-inject', 'web-search-tool', 'rate-limit'] })),
    );
    const config = configOf({ slots: [slotAt(upstream.url, { maxConcurrent: 200 })], pipeline });
    const mapped = 'sdk.mapEvents(reply.events, { content_block_delta: (event) => event })';
    folder = await folders.make({
      'gateway.yaml': config,
      '.env': 'GW_TEST_SECRET=1',
      'own.mjs': inRequest(''),
      'required.cjs': `module.exports = () => module.constructor._load('net').connect(1);`,
      'good.mjs': stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { async intercept(request, call) { const reply = await call(request); return { ...reply, events: ${mapped} }; } };`,
      ),
    });
    under = await startGateway(`${folder}/gateway.yaml`, {});
  });
  after(async () => {
    await under.close();
    upstream.close();
    await folders.remove();
  });

  const stream = { ...ask('Hi'), stream: true };
  const harmful = () => under.post('/v1/messages', stream, { 'x-bad': '1' });

  /** The 99th percentile of the times that events of a hundred streams take while `work` runs; each stream is whole. */
  async function beside(work: () => unknown): Promise<number> {
    const answers = await Promise.all(Array.from({ length: 100 }, () => under.post('/v1/messages', stream)));
    const [delays] = await Promise.all([Promise.all(answers.map(tickDelays)), work()]);
    return p99(delays.flat());
  }

  const install = async (module: string) => {
    await writeFile(`${folder}/own.mjs`, module);
    await under.gateway.reload();
  };

  /**
   * Expects that `work` costs other streams under 50 ms; measured again if it seems to cost more. On a machine that is
   * busy itself the times vary by as much as they are.
   */
  async function expectCheap(work: () => Promise<unknown>, install: () => Promise<unknown>): Promise<void> {
    let isCheap = false;
    for (let times = 0; times < 4 && !isCheap; times += 1) {
      await install();
      const usualMs = await beside(() => undefined);
      const gainMs = (await beside(work)) - usualMs;
      isCheap = gainMs < Math.max(50, usualMs);
    }
    expect(isCheap).to.equal(true);
  }

  for (const [name, code] of harms)
    it(`that ${name} costs other streams nothing`, async () => {
      const work = async () => {
        const response = await harmful();
        await response.text();
        expect(response.status).to.equal(502);
      };
      await expectCheap(work, () => install(inRequest(code)));
    });

  it('that loops in a transform costs other streams nothing, and ends its own with an error', async () => {
    const events = 'sdk.mapEvents(reply.events, { content_block_delta: () => { for (;;); } })';
    const module = bad(
      `return { async intercept(request, call) { const reply = await call(request); return { ...reply, events: ${events} }; } };`,
    );
    const work = async () => expect(await (await harmful()).text()).to.match(/stage_failed|event: error/);
    await expectCheap(work, () => install(module));
  });

  it('that loops in its set-up is refused by a reload, while the process before serves', async () => {
    await install(inRequest(''));
    await writeFile(`${folder}/own.mjs`, bad('for (;;);'));
    let message = '';
    await beside(async () => under.gateway.reload().catch((error: Error) => ({ message } = error)));
    expect(message).to.match(/did not answer within 0\.5 s/);
    expect((await harmful()).status).to.equal(200);
  });

  it('that never answers is ended by the timeout of its entry', async () => {
    await install(inRequest('await new Promise(() => {});'));
    expect((await harmful()).status).to.be.oneOf([500, 502]);
  });

  it('pollutes the prototypes of its own process alone', async () => {
    const pollution = `Object.prototype.polluted = 1; ctx.state.request = JSON.parse('{"model":"sonnet-5","messages":[{"role":"user","content":"x"}],"__proto__":{"polluted":1}}');`;
    await install(
      stageModule(
        `requires: ['request'], provides: ['request'],`,
        `return (ctx, next) => { ${pollution} return next(); };`,
      ),
    );
    await (await harmful()).text();
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
  });

  describe('does not reach', () => {
    let found: Readonly<Record<string, string>> = {};
    before(async () => {
      const attempts = refused.map(([name, code]) => `[${JSON.stringify(name)}, async () => ${code}]`);
      const tried = `process.on('unhandledRejection', () => {}); const found = {}; for (const [name, attempt] of [${attempts.join()}]) try { await new Promise((go) => setTimeout(go, 1)); await attempt(); found[name] = 'reached'; } catch (error) { found[name] = 'refused: ' + error.message.split('\\n')[0].slice(0, 150); }`;
      await install(
        bad(
          `return { async middleware(ctx, next) { ${tried} ctx.set('x-found', encodeURIComponent(JSON.stringify(found))); await next(); }, ${passing} };`,
        ),
      );
      const response = await harmful();
      const text = await response.text();
      expect(response.headers.get('x-found'), text).to.be.a('string');
      found = JSON.parse(decodeURIComponent(response.headers.get('x-found')!)) as typeof found;
    });

    for (const [name] of refused)
      it(name, () => {
        expect(found[name])
          .to.match(/^refused: /)
          .and.not.match(/ECONNREFUSED/);
      });
  });
});
