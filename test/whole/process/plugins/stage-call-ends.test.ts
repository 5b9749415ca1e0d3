import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { ask, configOf, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { inFlight, issueKey } from '../../kit.js';
import { TempFolders, writeIn } from '../../temp-folders.js';
import { callingPipeline, rowsOf, type CallRow } from './calling-stage.js';

describe('the end of a call by a stage', () => {
  const folders = new TempFolders();
  let upstream: HeldUpstream;
  let under: GatewayUnderTest | undefined;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(async () => {
    await upstream.close();
    await under?.close();
    under = undefined;
    await folders.remove();
  });

  const mirror = `
    const { request } = ctx.state;
    host.call(request, { ctx, label: 'mirror', slots: ['b'] }).catch((error) => host.log.warn({ code: error.code }, 'no mirror'));`;
  const disposed = `host.onDispose(() => host.log.info({}, 'disposed'));`;

  let folder: string;

  async function start(code: string, config: object = {}, setup = disposed): Promise<GatewayUnderTest> {
    const pipeline = await callingPipeline(folders, code, setup);
    const slots = [
      slotAt(upstream.url),
      slotAt(upstream.url, { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } }),
    ];
    const withA = pipeline.map((entry) =>
      'use' in entry && entry.use === 'slot-pick' ? { use: 'slot-pick', with: { slots: ['a'] } } : entry,
    );
    folder = await folders.make({ 'gateway.yaml': configOf({ pipeline: withA, slots, ...config }) });
    under = await startGateway(`${folder}/gateway.yaml`);
    return under;
  }

  /** The next two calls: that of the mirror, and that of the request. */
  async function both() {
    const calls = [await upstream.next(), await upstream.next()];
    const ofMirror = calls.find(({ credential }) => credential.endsWith('-b'))!;
    return { ofMirror, ofRequest: calls.find((call) => call !== ofMirror)! };
  }

  const logged = (text: string) => under!.logged.filter(({ msg }) => msg === text);
  const byLabel = (rows: readonly CallRow[], label: string | null) =>
    rows.find((row) => row.label === label)!;

  it('may come after that of its request, and of its pipeline after a reload', async () => {
    const gateway = await start(mirror);
    const response = gateway.post('/v1/messages', ask('Hi'));
    const { ofMirror, ofRequest } = await both();
    expect(JSON.parse(ofMirror.text)).to.deep.include({ model: 'sonnet-5' });
    ofRequest.finish();
    expect(await (await response).text()).to.include('Hello.');
    await gateway.gateway.exchanges.idle();
    expect(inFlight(gateway)).to.deep.equal([0, 1]);
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(upstream.url)] }));
    await gateway.gateway.reload();
    expect(logged('disposed')).to.have.length(0);
    ofMirror.finish();
    await eventually(() => logged('disposed').length === 1);
    const rows = await rowsOf(gateway);
    const [call, request] = [byLabel(rows, 'mirror'), byLabel(rows, null)];
    expect(call).to.include({ parent: request.id, slot: 'b', status: 200 });
    expect(gateway.gateway.services.slots.list().map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('is awaited by a shutdown', async () => {
    const gateway = await start(mirror);
    const response = gateway.post('/v1/messages', ask('Hi'));
    const { ofMirror, ofRequest } = await both();
    ofRequest.finish();
    await (await response).text();
    const { store } = gateway.gateway.services;
    const closing = gateway.close();
    await eventually(() => logged('Waiting for requests to finish.').length === 1);
    expect(logged('Waiting for requests to finish.')[0]).to.include({ requests: 0, calls: 1 });
    ofMirror.finish();
    await closing;
    expect(logged('call')).to.have.length(1);
    expect(logged('call')[0]).to.include({ label: 'mirror', status: 200, outcome: 'completed', slot: 'b' });
    const { rows } = await store.ledger.requests({ label: 'mirror' }, { limit: 10 });
    expect(rows).to.have.length(1);
  });

  it('is forced by a shutdown after its timeout', async () => {
    const listen = { host: '127.0.0.1', port: 0, shutdownTimeout: '50ms' };
    const gateway = await start(mirror, { listen });
    const response = gateway.post('/v1/messages', ask('Hi'));
    const { ofMirror, ofRequest } = await both();
    ofRequest.finish();
    await (await response).text();
    await gateway.close();
    expect(await ofMirror.closed).to.equal(false);
    expect(logged('no mirror')[0]).to.include({ code: 'shutting_down' });
    expect(logged('call')[0]).to.include({ status: 503, code: 'shutting_down', outcome: 'failed' });
  });

  it('comes by the signal of its stage, and is billed up to then', async () => {
    const code = `
      const call = host.call(ask('x'), { ctx, label: 'cut', signal: ctx.state.signal });
      await call.catch((error) => host.log.info({ name: error.name }, 'cut'));`;
    const gateway = await start(code);
    const leaving = new AbortController();
    const response = fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify(ask('Hi')),
      signal: leaving.signal,
    }).catch(() => undefined);
    const held = await upstream.next();
    leaving.abort();
    await response;
    expect(await held.closed).to.equal(false);
    await eventually(() => logged('cut').length === 1);
    const [call] = await rowsOf(gateway, '?label=cut');
    expect(call).to.include({ status: 499, code: null, failed: false });
    expect(call!.shown['input']).to.be.above(0);
    expect(inFlight(gateway)).to.deep.equal([0, 0]);
  });

  it('frees the permit that a call by billTo holds of its key', async () => {
    const code = `
      if (ctx.get('x-quiet')) return next();
      host.call(ask('x'), { billTo: 'narrow', label: 'side' }).catch((error) => host.log.info({ code: error.code }, 'refused'));`;
    const gateway = await start(code);
    await issueKey(gateway, 'narrow', { maxConcurrent: 1 });
    const answered = async () => {
      const response = gateway.post('/v1/messages', ask('Hi'), {});
      const call = await upstream.next();
      return { response, call };
    };
    const first = gateway.post('/v1/messages', ask('Hi'));
    const calls = [await upstream.next(), await upstream.next()];
    const ofSide = calls.find(({ text }) => text.includes('"x"'))!;
    calls.find((call) => call !== ofSide)!.finish();
    await (await first).text();
    const second = await answered();
    second.call.finish();
    await (await second.response).text();
    await eventually(() => logged('refused').length === 1);
    expect(logged('refused')[0]).to.include({ code: 'rate_limited' });
    ofSide.finish();
    await gateway.gateway.services.openCalls.idle();
    const third = gateway.post('/v1/messages', ask('Hi'));
    const again = [await upstream.next(), await upstream.next()];
    for (const call of again) call.finish();
    await (await third).text();
    const rows = await rowsOf(gateway, '?label=side');
    expect(rows.map(({ status }) => status)).to.have.members([200, 200, 429]);
  });

  it('may be that of a listener for the end of the request, which a reload waits for', async () => {
    const code = `
      ctx.state.onSettled(() => {
        host.call(ask('x'), { ctx, label: 'after' }).catch((error) => host.log.warn({ code: error.code }, 'no call'));
      });`;
    const gateway = await start(code);
    const response = gateway.post('/v1/messages', ask('Hi'));
    const ofRequest = await upstream.next();
    const reloading = gateway.gateway.reload();
    await reloading;
    ofRequest.finish();
    await (await response).text();
    const ofListener = await upstream.next();
    expect(logged('disposed')).to.have.length(0);
    ofListener.finish();
    await eventually(() => logged('disposed').length === 1);
    expect(await rowsOf(gateway, '?label=after')).to.have.length(1);
    expect(logged('no call')).to.deep.equal([]);
  });

  it('is refused once a reload has replaced the pipeline, for calls of no request', async () => {
    const setup = `${disposed} globalThis.callNow = () => host.call(ask('x'), { billTo: 'master', label: 'timer' });`;
    const gateway = await start('', {}, setup);
    const call = Reflect.get(globalThis, 'callNow') as () => Promise<unknown>;
    await gateway.gateway.reload();
    const failure = await call().catch((error: unknown) => error);
    expect(failure).to.include({ code: 'shutting_down' });
    const ofNew = (Reflect.get(globalThis, 'callNow') as typeof call)();
    (await upstream.next()).finish();
    expect(await ofNew).to.include({ status: 200 });
    Reflect.deleteProperty(globalThis, 'callNow');
  });
});
