import { expect } from 'chai';
import { ask, stages } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PluginWorkshop } from './plugin-workshop.js';

const never = 'new Promise(() => undefined)';

describe('a stage with a time limit', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  const id = { 'x-request-id': 'req-1' };
  const place = { stage: 'limited', path: 'pipeline[3]' };

  /** Starts a gateway with a stage behind format-decode. */
  async function start(middleware: string, entry: object, keys = `['request']`): Promise<void> {
    const plugin = `export default { name: 'limited', requires: ${keys}, provides: ${keys}, setup: () => ${middleware} };`;
    const pipeline = stages().toSpliced(3, 0, { use: './limited.js', ...entry });
    await shop.start(pipeline, { 'limited.js': plugin });
  }

  const lines = (level: string) => shop.under.logged.filter((line) => line['level'] === level);
  const post = () => shop.under.post('/v1/messages', ask('Hi'), id);

  it('fails the request if it does not call next in time, and is named', async () => {
    await start(`() => ${never}`, { timeout: '50ms' });
    expect(await errorIn(await post())).to.include({
      status: 500,
      message: 'The stage "limited" failed on request req-1; see the log.',
    });
    const [line] = lines('error');
    expect(line).to.include({ ...place, msg: 'The gateway failed.' });
    const cause = line!['err'] as Error;
    expect(cause.message).to.equal('It did not call next within its timeout of 0.05 s.');
    await shop.under.gateway.exchanges.idle();
    expect(shop.under.gateway.services.slots.list()[0]).to.include({ inFlight: 0 });
  });

  it('is passed over with onError: skip, which is logged, counted and kept', async () => {
    await start(`() => ${never}`, { timeout: '50ms', onError: 'skip' });
    const response = await shop.answered(ask('Hi'), id);
    expect(response.status).to.equal(200);
    await response.text();
    const [line] = lines('warn');
    expect(line).to.include({ ...place, msg: 'A stage failed and was skipped.' });
    expect(line!['at']).to.match(/gateway\.yaml:1:\d+$/);
    const metrics = await (await shop.under.get('/metrics')).text();
    expect(metrics).to.include('gw2api_stage_skips_total{stage="limited"} 1');
    await shop.under.gateway.exchanges.idle();
    await shop.under.gateway.services.ledger.flush();
    const { rows } = await shop.under.gateway.services.store.ledger.requests({}, { limit: 1 });
    const { trace } = (await shop.under.gateway.services.store.ledger.get(rows[0]!))!;
    const skipped = trace!.stages.filter((stage) => stage.skipped);
    expect(skipped.map(({ stage }) => stage)).to.deep.equal(['limited']);
  });

  it('changes nothing once its time is over, and its late next is dropped', async () => {
    const shared = globalThis as { goOn?: () => void; ended?: (error: unknown) => void };
    await start(
      `async (ctx, next) => {
        await new Promise((resolve) => { globalThis.goOn = resolve; });
        ctx.state.request = { ...ctx.state.request, model: 'late' };
        delete ctx.state.caller;
        ctx.body = 'late';
        ctx.set('x-late', 'yes');
        await next().catch(globalThis.ended);
      }`,
      { timeout: '50ms', onError: 'skip' },
    );
    const ended = new Promise((resolve) => (shared.ended = resolve));
    const response = post();
    const call = await shop.upstream.next();
    shared.goOn?.();
    expect(await ended).to.have.property('message', 'The stage called next too late.');
    call.finish();
    const answer = await response;
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-late')).to.equal(null);
    expect(await answer.json()).to.include({ type: 'message', model: 'sonnet-5' });
    delete shared.goOn;
    delete shared.ended;
  });

  it('has it for its own time, and not for that of the stages below', async () => {
    await start(`async (ctx, next) => ctx.headers['x-hang'] ? ${never} : next()`, { timeout: '50ms' });
    const passed = post();
    const call = await shop.upstream.next();
    const hung = await shop.under.post('/v1/messages', ask('Hi'), { 'x-hang': '1' });
    expect(hung.status, 'after 50 ms').to.equal(500);
    call.finish();
    expect((await passed).status, 'though its upstream took longer').to.equal(200);
  });

  for (const [what, middleware] of Object.entries({
    throws: `async (ctx) => { ctx.state.request = { model: 'broken' }; throw new Error('SECRET'); }`,
    'throws as an upstream does': `async (ctx) => { ctx.state.request = 5; throw Object.assign(new Error('x'), { status: 503 }); }`,
    'neither calls next nor answers': `async (ctx) => { ctx.state.request = null; }`,
  }))
    it(`and ${what} is skipped with the keys that it provides as they were`, async () => {
      await start(middleware, { onError: 'skip' });
      const response = shop.under.post('/v1/messages', ask('Hi'), id);
      const call = await shop.upstream.next();
      call.finish();
      expect((await response).status).to.equal(200);
      expect(await (await response).json()).to.include({ model: 'sonnet-5' });
      expect(lines('warn').map(({ msg }) => msg)).to.deep.equal(['A stage failed and was skipped.']);
    });

  it('answers as it likes, also with onError: skip', async () => {
    await start(`async (ctx) => ctx.throw(429, 'Slowly.')`, { onError: 'skip' });
    expect(await errorIn(await post())).to.include({ status: 429, message: 'Slowly.' });
    await start(`async (ctx) => { ctx.body = { own: true }; }`, { onError: 'skip', timeout: '5s' });
    expect(await (await post()).json()).to.deep.equal({ own: true });
  });

  it('fails the request for an error after next, also with onError: skip', async () => {
    await start(`async (ctx, next) => { await next(); throw new Error('SECRET'); }`, { onError: 'skip' });
    expect(await errorIn(await shop.answered(ask('Hi'), id))).to.include({
      status: 500,
      message: 'The stage "limited" failed on request req-1; see the log.',
    });
  });

  describe('that intercepts', () => {
    async function startWith(intercept: string, entry: object): Promise<void> {
      const plugin = `export default { name: 'limited', requires: ['request'], intercepts: true,
        setup: () => ({ intercept: ${intercept} }) };`;
      const pipeline = stages().toSpliced(3, 0, { use: './limited.js', ...entry });
      await shop.start(pipeline, { 'limited.js': plugin });
    }

    it('fails the request if it gives no reply in time, and is named', async () => {
      await startWith(`() => ${never}`, { timeout: '50ms' });
      expect(await errorIn(await post())).to.include({
        status: 500,
        message: 'The stage "limited" failed on request req-1; see the log.',
      });
      expect(lines('error')[0]).to.include(place);
    });

    for (const [what, intercept] of Object.entries({
      hangs: `() => ${never}`,
      throws: `async () => { throw new Error('SECRET'); }`,
      'gives no reply': `async () => ({ status: 200 })`,
    }))
      it(`and ${what} is passed over with onError: skip, if it has made no call`, async () => {
        await startWith(intercept, { timeout: '50ms', onError: 'skip' });
        expect((await shop.answered(ask('Hi'), id)).status).to.equal(200);
        expect(lines('warn')).to.have.length(1);
        expect(lines('warn')[0]).to.include({ ...place, msg: 'A stage failed and was skipped.' });
      });

    it('fails the request for an error after its call, also with onError: skip', async () => {
      const intercept = `async (request, call) => { await call(request); throw new Error('SECRET'); }`;
      await startWith(intercept, { onError: 'skip' });
      expect(await errorIn(await shop.answered(ask('Hi'), id))).to.include({ status: 500 });
      expect(lines('error')[0]).to.include(place);
    });

    it('does not wrap the call of a request that has gone on without its middleware', async () => {
      const plugin = `export default { name: 'limited', intercepts: true, setup: () => ({
          middleware(ctx, next) { if (ctx.headers['x-fail']) throw new Error('mine'); return next(); },
          intercept: (request, call, ctx) => { ctx.set('x-wrapped', 'yes'); return call(request); } }) };`;
      const pipeline = stages().toSpliced(3, 0, { use: './limited.js', onError: 'skip' });
      await shop.start(pipeline, { 'limited.js': plugin });
      const wrapped = async (headers: Readonly<Record<string, string>>) =>
        (await shop.answered(ask('Hi'), headers)).headers.get('x-wrapped');
      expect(await wrapped({})).to.equal('yes');
      expect(await wrapped({ 'x-fail': '1' })).to.equal(null);
      expect(await wrapped({}), 'the next request').to.equal('yes');
    });

    it('is given the context that its middleware was given', async () => {
      const plugin = `const known = new WeakSet();
        export default { name: 'limited', intercepts: true, setup: () => ({
          middleware(ctx, next) { known.add(ctx); return next(); },
          applies: (ctx) => known.has(ctx),
          intercept: (request, call, ctx) => {
            ctx.set('x-known', String(known.has(ctx)));
            return call(request);
          } }) };`;
      const pipeline = stages().toSpliced(3, 0, { use: './limited.js', timeout: '5s' });
      await shop.start(pipeline, { 'limited.js': plugin }, [{}], { GW_STRICT: '1' });
      expect((await shop.answered()).headers.get('x-known')).to.equal('true');
    });

    it('has the time for itself, and not for its calls', async () => {
      await startWith(`async (request, call, ctx) => ctx.headers['x-hang'] ? ${never} : call(request)`, {
        timeout: '50ms',
      });
      const passed = post();
      const call = await shop.upstream.next();
      const hung = await shop.under.post('/v1/messages', ask('Hi'), { 'x-hang': '1' });
      expect(hung.status, 'after 50 ms').to.equal(500);
      call.finish();
      expect((await passed).status, 'though its upstream took longer').to.equal(200);
    });

    it('makes no call once its time is over', async () => {
      const shared = globalThis as { goOn?: () => void; ended?: (error: unknown) => void };
      await startWith(
        `async (request, call) => {
          await new Promise((resolve) => { globalThis.goOn = resolve; });
          return call(request).catch(globalThis.ended);
        }`,
        { timeout: '50ms', onError: 'skip' },
      );
      const ended = new Promise((resolve) => (shared.ended = resolve));
      const response = post();
      const call = await shop.upstream.next();
      shared.goOn?.();
      expect(await ended).to.have.property('message', 'The interceptor made its call too late.');
      call.finish();
      expect((await response).status).to.equal(200);
      delete shared.goOn;
      delete shared.ended;
    });
  });

  it('cannot be skipped if it introduces a key that is needed after it', async () => {
    const [auth, ...rest] = stages({ with: { auth: {} } });
    const last = rest.length - 1;
    const entries = rest.map((entry, at) => (at === last ? { ...entry, onError: 'skip' } : entry));
    const error: unknown = await shop
      .start([{ ...auth, onError: 'skip' }, ...entries])
      .catch((thrown: unknown) => thrown);
    const text = error instanceof Error ? error.message : '';
    const cure = 'requests cannot continue without it; remove its "onError: skip"';
    expect(text).to.include(
      `pipeline[0] "auth" is the first to provide "caller" for generate and count-tokens, which "format-decode" at line 1 needs: ${cure}`,
    );
    expect(text).to.include(
      `pipeline[12] "format-encode" is the first to provide "response", which every answer needs: ${cure}`,
    );
  });
});
