import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { ask, stages } from '../../harness.js';
import { PluginWorkshop } from '../plugins/plugin-workshop.js';
import { isolatedSuite, stageModule, withStage } from './isolated.js';

const pipeline = (own: object) => withStage(own, stages({ without: ['persona-inject', 'web-search-tool'] }));
const inRequest = (code: string) =>
  stageModule(`requires: ['request'],`, `return async (ctx, next) => { ${onlyFor(code)} await next(); };`);
const onlyFor = (code: string) => `if (ctx.headers['x-bad']) { ${code} }`;

isolatedSuite('a child process that fails', function () {
  this.timeout(60_000);
  const workshop = new PluginWorkshop();
  afterEach(() => workshop.end());

  const start = (module: string, own: object = {}) =>
    workshop.start(pipeline({ use: './own.mjs', isolate: { stall: '400ms', memory: '200mb' }, ...own }), {
      'own.mjs': module,
    });
  const bad = () => workshop.under.post('/v1/messages', ask('Hi'), { 'x-bad': '1' });
  const healthy = async () => (await workshop.answered()).status;
  const metric = async (reason: string) => {
    const text = await (await workshop.under.get('/metrics')).text();
    return Number(
      new RegExp(`gw2api_isolated_restarts_total\\{stage="own",reason="${reason}"\\} (\\d+)`).exec(
        text,
      )?.[1] ?? 0,
    );
  };

  const ends: readonly (readonly [name: string, code: string, reason: string])[] = [
    ['loops', 'for (;;);', 'stall'],
    ['exits', 'process.exit(3);', 'exit'],
    ['aborts', 'process.abort();', 'exit'],
    [
      'rejects a promise that nobody waits for',
      `Promise.reject(new Error('lost')); await new Promise(() => {});`,
      'exit',
    ],
    ['closes its connection', `(await import('node:fs')).closeSync(3); await new Promise(() => {});`, 'exit'],
    [
      'writes into its connection',
      `(await import('node:fs')).writeSync(3, Buffer.alloc(64, 255)); await new Promise(() => {});`,
      'protocol',
    ],
  ];
  for (const [name, code, reason] of ends)
    it(`is replaced after it ${name}`, async () => {
      await start(inRequest(code));
      const response = await bad();
      expect(response.status).to.equal(502);
      expect(await response.json()).to.nested.include({ 'error.code': 'stage_failed' });
      expect(await healthy()).to.equal(200);
      expect(await metric(reason)).to.equal(1);
    });

  it('is skipped by requests whose entry says so', async () => {
    await start(inRequest('for (;;);'), { onError: 'skip' });
    const answered = bad();
    (await workshop.upstream.next()).finish();
    const response = await answered;
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-skipped')).to.equal('own');
  });

  it('ends a stream with one error event', async () => {
    const map = `sdk.mapEvents(reply.events, { content_block_delta: (event) => { if (event.delta.text === 'now') process.exit(1); return event; } })`;
    await start(
      stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { async intercept(request, call) { const reply = await call(request); return { ...reply, events: ${map} }; } };`,
      ),
    );
    const answered = workshop.under.post('/v1/messages', { ...ask('Hi'), stream: true });
    const turn = await workshop.upstream.next();
    const response = await answered;
    turn.say('now');
    const text = await response.text();
    expect(text.match(/^event: error$/gm)).to.have.length(1);
    expect(text).to.contain('Hello').and.not.contain('message_stop');
    expect(await turn.closed).to.equal(false);
  });

  it('is off for a minute after three ends in one', async () => {
    await start(inRequest('process.exit(1);'));
    for (let times = 0; times < 3; times += 1) expect((await bad()).status).to.equal(502);
    const sinceMs = performance.now();
    const response = await workshop.under.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(502);
    expect(performance.now() - sinceMs).to.be.below(500);
    expect(await metric('exit')).to.equal(3);
    const { notices } = (await (await workshop.under.get('/admin/pipeline')).json()) as { notices: string[] };
    expect(notices.join()).to.contain('"own" is off for a minute');
    expect(workshop.under.logged.find(({ msg }) => /third time in a minute/.test(String(msg)))).to.include({
      stage: 'own',
    });
  });

  it('keeps a config from being taken where it loops or fails in its set-up', async () => {
    const faults: readonly (readonly [string, RegExp])[] = [
      ['for (;;);', /cannot be set up: its process did not answer within 0\.4 s/],
      [`throw new Error('mine');`, /cannot be set up: mine/],
      ['host.route({});', /host\.route is not available to an isolated stage/],
      ['host.store.keys;', /host\.store is not available to an isolated stage/],
      ['host.policies.register;', /host\.policies is not available to an isolated stage/],
    ];
    for (const [code, message] of faults) {
      const fault = await start(stageModule('', `${code} return () => {};`)).catch(
        (error: Error) => error.message,
      );
      expect(fault).to.match(message);
    }
  });

  it('keeps a config from being taken whose module cannot be isolated', async () => {
    const modules: readonly (readonly [string, RegExp])[] = [
      ['export default () => (ctx, next) => next();', /is a plain Koa middleware, which cannot be isolated/],
      [
        `import '@gw2api/gateway/plugin/raw'; export default {};`,
        /plugin\/raw", which is for stages within the gateway/,
      ],
      [`import 'node:net'; export default {};`, /imports "net", which is not available to an isolated stage/],
      [
        `export default { name: 'own', requires: ['picker'], setup() {} };`,
        /requires "picker", which is not JSON/,
      ],
      [
        `export default { name: 'own', provides: ['additions'], setup() {} };`,
        /provides "additions", which is not JSON/,
      ],
      [
        `export default { name: 'own', require: ['request'], setup() {} };`,
        /has the unknown field "require"; did you mean "requires"\?/,
      ],
      ['export const a = 1;', /must export default a plugin with name and setup, but it exports a/],
      [`throw new Error('mine');`, /mine/],
    ];
    for (const [module, message] of modules)
      expect(await start(module).catch((error: Error) => error.message)).to.match(message);
  });

  it('keeps a config from being taken whose wrap fails, with what that says', async () => {
    const wraps: readonly (readonly [readonly string[], RegExp])[] = [
      [['no-such-sandbox'], /no-such-sandbox/],
      [
        ['/bin/sh', '-c', 'echo; echo "sandbox: no namespaces" >&2; exit 4'],
        /ended with the code 4 \(sandbox: no namespaces\)/,
      ],
    ];
    for (const [wrap, message] of wraps)
      expect(
        await start(inRequest(''), { isolate: { wrap } }).catch((error: Error) => error.message),
      ).to.match(message);
  });

  const invalid: readonly (readonly [string, string, RegExp])[] = [
    [
      'request that is not valid',
      `ctx.state.request = { model: 'sonnet-5', messages: 'x' };`,
      /left a request that has an invalid messages/,
    ],
    [
      'key that it does not provide',
      `ctx.state.caller = {};`,
      /sets ctx\.state\.caller, which it does not declare/,
    ],
    ['value that is not JSON', `ctx.state.request = { ...ctx.state.request, n: 1n };`, /BigInt/],
    [
      'message of 10⁵ levels',
      `let deep = []; for (let at = 0; at < 1e5; at += 1) deep = [deep]; ctx.state.request = { ...ctx.state.request, deep };`,
      /failed/,
    ],
  ];
  for (const [name, code, message] of invalid)
    it(`fails a request that it gives a ${name}`, async () => {
      await start(
        stageModule(
          `requires: ['request'], provides: ['request'],`,
          `return (ctx, next) => { ${onlyFor(code)} return next(); };`,
        ),
      );
      expect((await bad()).status).to.equal(502);
      expect(JSON.stringify(workshop.under.logged)).to.match(message);
      expect(await healthy()).to.equal(200);
    });

  it('is killed beyond its memory', async () => {
    const grows = [
      'const kept = []; for (;;) { kept.push(Buffer.alloc(1e6, 1)); if (kept.length % 20 === 0) await new Promise((go) => setTimeout(go, 5)); }',
      'const map = new Map(); for (let at = 0; ; at += 1) map.set(at, { at });',
      `let text = 'x'; const all = []; for (;;) all.push((text += 'y').repeat(999));`,
    ];
    for (const code of grows) {
      await start(inRequest(code), { isolate: { stall: '20s', memory: '150mb' } });
      expect((await bad()).status).to.equal(502);
      await eventually(async () => (await metric('memory')) === 1);
      expect(await healthy()).to.equal(200);
    }
  });
});
