import { expect } from 'chai';
import { dialects, formatNames } from '../../formats/dialects.js';
import { ask, stages } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PluginWorkshop } from './plugin-workshop.js';

describe('a plugin that misbehaves', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  const internal = {
    status: 500,
    type: 'api_error',
    code: 'internal',
    message: 'The stage "bad" failed on request req-bad; see the log.',
  };
  const id = { 'x-request-id': 'req-bad' };

  async function startWith(middleware: string): Promise<void> {
    await shop.start([{ use: './bad.js' }, ...stages()], {
      'bad.js': `export default { name: 'bad', setup: () => ${middleware} };`,
    });
  }

  /** Nothing is left behind: no request, no place in a slot. */
  async function isClean(): Promise<void> {
    await shop.under.gateway.exchanges.idle();
    expect(shop.under.gateway.services.slots.list().map(({ inFlight }) => inFlight)).to.deep.equal([0]);
  }

  const thrown = {
    'a text': `async () => { throw 'SECRET'; }`,
    'nothing at all': `async () => { throw undefined; }`,
    'an error of its own': `async () => { throw new TypeError('SECRET'); }`,
    'an error, and is not even asynchronous': `() => { throw new Error('SECRET'); }`,
  };
  for (const [what, middleware] of Object.entries(thrown))
    it(`and throws ${what} is answered for with 500, and told of in the log alone`, async () => {
      await startWith(middleware);
      expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi'), id))).to.deep.equal(internal);
      const lines = shop.under.logged.filter(({ level }) => level === 'error');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ msg: 'The gateway failed.', code: 'internal', stage: 'bad' });
      expect(lines[0]!['at']).to.match(/\/gateway\.yaml:1:\d+$/);
      await isClean();
    });

  it('and throws as Koa does is answered for with its status', async () => {
    await startWith(`async (ctx) => ctx.throw(418, 'I am a teapot.')`);
    expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.deep.equal({
      status: 418,
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'I am a teapot.',
    });
  });

  it('and calls next twice is answered for with 500', async () => {
    await startWith(`async (ctx, next) => { await next(); await next(); }`);
    expect(await errorIn(await shop.answered(ask('Hi'), id))).to.deep.equal(internal);
    await isClean();
  });

  it('and throws when the stream stands ready ends the upstream call too', async () => {
    await startWith(`async (ctx, next) => { await next(); throw new Error('SECRET'); }`);
    const response = shop.under.post('/v1/messages', ask('Hi', { stream: true }), id);
    const { closed } = await shop.upstream.next();
    expect(await errorIn(await response)).to.deep.equal(internal);
    expect(await closed, 'whether the upstream could finish').to.equal(false);
    await isClean();
  });

  for (const format of formatNames)
    it(`and fails in the middle of a ${format} stream is told of in the log, with its cause and the request's id`, async () => {
      const read = `async function* (events) {
        for await (const batch of events) { yield batch; throw new TypeError('SECRET'); }
      }`;
      const middleware = `async (ctx, next) => {
        ctx.state.reply = { ...ctx.state.reply, events: (${read})(ctx.state.reply.events) };
        await next();
      }`;
      const stage = `export default { name: 'bad', requires: ['reply'], provides: ['reply'], setup: () => ${middleware} };`;
      const after = stages().map((entry) => ('use' in entry ? entry : {}));
      const at = after.findIndex((entry) => (entry as { use?: string }).use === 'usage-mask');
      await shop.start(after.toSpliced(at, 0, { use: './bad.js' }), { 'bad.js': stage });
      const { path, request } = dialects[format];
      const headers = { 'x-request-id': 'req-broken' };
      const response = await shop.under.post(path, { ...request('Hi'), stream: true }, headers);
      const text = await response.text();
      expect(response.status).to.equal(200);
      expect(text).to.include('see its log').and.not.include('SECRET');
      await shop.under.gateway.exchanges.idle();
      const lines = shop.under.logged.filter(({ level }) => level === 'error');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ id: 'req-broken', code: 'internal', msg: 'The gateway failed.' });
      expect(lines[0]!['plugin'], 'the file that threw').to.match(/\/bad\.js:\d+:\d+$/);
      expect(lines[0]!['err']).to.be.an.instanceof(TypeError).with.property('message', 'SECRET');
    });

  it('and never calls next, nor answers, is answered for with 500', async () => {
    await startWith(`async () => undefined`);
    expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.include({
      status: 500,
      code: 'internal',
    });
    await isClean();
  });

  it('and forgets to wait for next is answered for with 500, and nothing is asked for nobody', async () => {
    await startWith(`(ctx, next) => { next().catch(() => undefined); }`);
    expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.include({
      status: 500,
      code: 'internal',
    });
    await isClean();
  });

  const faults: readonly (readonly [what: string, text: string, by?: object])[] = [
    ['throws', `async () => { throw new Error('SECRET'); }`],
    ['throws at once', `() => { throw new Error('SECRET'); }`],
    ['throws behind the others', `async (ctx, next) => { await next(); throw new Error('SECRET'); }`],
    ['throws in place of what another threw', `(ctx, next) => next().finally(() => { throw 'SECRET'; })`],
    ['never calls next, nor answers', `async () => undefined`],
    ['forgets to wait for next', `(ctx, next) => { next().catch(() => undefined); }`],
    [
      'pushes an interceptor',
      `async (ctx, next) => { ctx.state.interceptors.push(() => { throw new Error('SECRET'); }); await next(); }`,
    ],
  ];
  for (const [what, text, by = { stage: 'bad', path: 'pipeline[0]' }] of faults)
    it(`and ${what} is named in the log with its place`, async () => {
      await startWith(text);
      shop.upstream.next().then(
        (answer) => answer.finish(),
        () => undefined,
      );
      expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.include({
        code: 'internal',
      });
      expect(shop.under.logged.find(({ msg }) => msg === 'The gateway failed.')).to.include(by);
      const { stage } = by as { stage: string };
      const metrics = await (await shop.under.get('/metrics')).text();
      expect(metrics).to.include(`gw2api_stage_faults_total{stage="${stage}"} 1`);
    });

  it('and answers itself is let to', async () => {
    await startWith(`async (ctx) => { ctx.body = { own: ctx.path }; }`);
    const response = await shop.under.post('/v1/messages', ask('Hi'));
    expect([response.status, await response.json()]).to.deep.equal([200, { own: '/v1/messages' }]);
  });

  it('and puts its own answer in place of a stream ends the upstream call too', async () => {
    await startWith(`async (ctx, next) => { await next(); ctx.body = { own: true }; }`);
    const response = shop.under.post('/v1/messages', ask('Hi', { stream: true }));
    const { closed } = await shop.upstream.next();
    expect(await (await response).json()).to.deep.equal({ own: true });
    expect(await closed, 'whether the upstream could finish').to.equal(false);
    await isClean();
  });

  it('and breaks the events ends the stream with an error event', async () => {
    const [auth, limit, decode, ...rest] = stages();
    const call = rest.findIndex((stage) => 'use' in stage && stage.use === 'upstream-call');
    await shop.start(
      [auth!, limit!, decode!, ...rest.slice(0, call + 1), { use: './bad.js' }, ...rest.slice(call + 1)],
      {
        'bad.js': `import { mapEvents } from '@gw2api/gateway/plugin';
        export default { name: 'bad', requires: ['reply'], provides: ['reply'], setup: () => async (ctx, next) => {
          const { reply } = ctx.state;
          const events = mapEvents(reply.events, { message_delta() { throw new Error('SECRET'); } });
          ctx.state.reply = { ...reply, events };
          await next();
        } };`,
      },
    );
    const response = await shop.answered(ask('Hi', { stream: true }));
    const text = await response.text();
    expect(text).to.match(/Hello\.[^]*event: error\ndata: .*The gateway failed on this request/);
    expect(text).not.to.match(/SECRET|message_stop/);
    const line = shop.under.logged.find(({ msg }) => msg === 'request');
    expect(line).to.include({ outcome: 'failed', code: 'internal' });
    await isClean();
  });
});
