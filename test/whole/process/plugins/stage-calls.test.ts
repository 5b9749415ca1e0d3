import { expect } from 'chai';
import { dialects, formatNames } from '../../formats/dialects.js';
import { eventually } from '../../../eventually.js';
import { ask, slotAt, startGateway, startPair, type Pair } from '../../harness.js';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { callsTo, errorIn, inFlight, issueKey, only } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';
import { callingPipeline, rowsOf } from './calling-stage.js';

describe('a stage that calls a model by host.call', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  const guard = `
    const { message } = await hold(await host.call(ask('Is it harmless?'), { ctx, label: 'guard' }));
    ctx.set('x-said', message.content[0].text);`;

  async function start(
    code: string,
    {
      slots = [{}],
      setup = '',
      config = {},
    }: { slots?: readonly object[]; setup?: string; config?: object } = {},
  ): Promise<Pair> {
    const pipeline = await callingPipeline(folders, code, setup);
    pair = await startPair({ pipeline, ...config }, {}, (url) =>
      slots.map((settings) => slotAt(url, settings)),
    );
    return pair;
  }

  const slotB = { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } };
  const modelsTo = ({ simulator }: Pair) =>
    callsTo(simulator).map(({ body }) => (body as { readonly model: string }).model);

  async function send(under: Pair, key?: string, body = ask('Hi')): Promise<Response> {
    const response = await under.post('/v1/messages', body, key === undefined ? {} : { 'x-api-key': key });
    await response.clone().text();
    return response;
  }

  it('gets the answer, and a row of its own that names the request as its parent', async () => {
    const under = await start(guard);
    const response = await send(under);
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-said')).to.match(/\w/);
    expect(response.headers.get('x-gw-attempts')).to.equal('1');
    const rows = await rowsOf(under);
    expect(rows).to.have.length(2);
    const call = rows.find(({ label }) => label === 'guard')!;
    const request = rows.find(({ label }) => label === null)!;
    expect(call).to.include({ parent: request.id, model: 'haiku-5', status: 200, attempts: 1 });
    expect(call.request_id).to.equal(request.request_id);
    expect(request.parent).to.equal(null);
    expect(modelsTo(under)).to.deep.equal(['haiku-5', 'sonnet-5']);
    expect(await rowsOf(under, `?parent=${request.id}`)).to.deep.equal([call]);
    expect(await rowsOf(under, '?label=guard')).to.deep.equal([call]);
    expect(await rowsOf(under, '?label=other')).to.deep.equal([]);
    const detail = (await new PanelClient(under.url).get(`/requests/${call.id}`)) as object;
    expect(detail).to.include({ label: 'guard', parent: request.id });
  });

  for (const format of formatNames)
    it(`calls on behalf of ${format} requests, streamed and whole`, async () => {
      const under = await start(guard);
      const { path, request } = dialects[format];
      for (const stream of [true, false]) {
        const response = await under.post(path, { ...request('Hi'), stream });
        expect(response.status).to.equal(200);
        expect(response.headers.get('x-said')).to.match(/\w/);
        await response.text();
      }
      expect(await rowsOf(under, `?label=guard&format=${format}`)).to.have.length(2);
    });

  it('moves to another slot after a failure', async () => {
    const under = await start(guard, { slots: [{}, slotB] });
    under.simulator.faults.push(only('a', '529'));
    expect((await send(under)).status).to.equal(200);
    const [call] = await rowsOf(under, '?label=guard');
    expect(call).to.include({ slot: 'b', attempts: 2, status: 200 });
  });

  it('gets the error of a call that no slot answers, without headers about its slot', async () => {
    const under = await start(`
      const error = await host.call(ask('x'), { ctx, label: 'guard' }).catch((error) => error);
      ctx.set('x-error', error.code + ' ' + Object.keys(error.headers).filter((name) => name.startsWith('x-gw')));`);
    under.simulator.faults.push('400 times=1');
    const response = await send(under);
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-error')).to.equal('invalid_request_error ');
    const [call] = await rowsOf(under, '?label=guard');
    expect(call).to.include({ status: 400, code: 'invalid_request_error', failed: true });
    expect(inFlight(under)).to.deep.equal([0]);
  });

  it('uses the slots that it names, in place of those of slot-pick, and none that the key may not use', async () => {
    const slots = [{}, slotB];
    const to = (ids: string) => `
      const call = host.call(ask('x'), { ctx, label: 'guard'${ids} });
      const { slot, code } = await call.catch((error) => error);
      ctx.append('x-slot', slot ?? code);`;
    const code = [to(''), to(`, slots: ['b']`), to(`, slots: ['*']`), to(`, slots: ['none']`)].map(
      (each) => `{${each}}`,
    );
    const pipeline = (await callingPipeline(folders, code.join('\n'))).map((entry) =>
      'use' in entry && entry.use === 'slot-pick' ? { use: 'slot-pick', with: { slots: ['a'] } } : entry,
    );
    const under = await startPair({ pipeline }, {}, (url) => slots.map((each) => slotAt(url, each)));
    pair = under;
    expect((await send(under)).headers.get('x-slot')).to.match(/^a, b, [ab], \w+$/);
    const limited = await issueKey(under, 'limited', { slots: ['a'] });
    expect((await send(under, limited)).headers.get('x-slot')).to.match(/^a, \w{3,}, a, \w+$/);
  });

  it('counts in the limits of the caller, and has its place in the request', async () => {
    const under = await start(guard);
    const key = await issueKey(under, 'limited', { requestsPerMinute: 3, maxConcurrent: 1 });
    expect((await send(under, key)).status).to.equal(200);
    const refused = await send(under, key);
    expect(refused.headers.get('x-gw-slot')).to.equal(null);
    expect(await errorIn(refused)).to.include({ status: 429, code: 'rate_limited' });
    const rows = await rowsOf(under);
    const shown = rows.map(({ label, status, code, key: by }) => `${label} ${status} ${code} ${by?.id}`);
    expect(shown.toSorted()).to.deep.equal([
      'guard 200 null limited',
      'guard 429 rate_limited limited',
      'null 200 null limited',
      'null 429 rate_limited limited',
    ]);
  });

  it('spends the budget of the caller, exactly', async () => {
    const price = { input: 10, output: 10, cacheRead: 10, cacheWrite5m: 10, cacheWrite1h: 10 };
    const twice = `await host.call(ask('x'), { ctx, label: 'one' }); await host.call(ask('y'), { ctx, label: 'two' })`;
    const under = await start(twice, { slots: [{ price }, { ...slotB, models: ['none'] }] });
    const key = await issueKey(under, 'paying', { usdPerDay: 100, tokensPerDay: 1_000_000 });
    expect((await send(under, key)).status).to.equal(200);
    const rows = await rowsOf(under);
    expect(rows.map(({ label }) => String(label)).toSorted()).to.deep.equal(['null', 'one', 'two']);
    const sum = rows.reduce((total, { cost }) => total + cost!.billed_usd, 0);
    const { live, now } = under.gateway.services;
    const day = Math.floor(now() / 86_400_000) * 86_400_000;
    const used = async (meter: string) => (await live.meters.read(`${meter}:${day}:paying`))!.used;
    expect((await used('usdPerDay')) / 1e9).to.be.closeTo(sum, 1e-9);
    const tokens = rows.reduce((total, { shown }) => total + shown['input']! + shown['output']!, 0);
    expect(await used('tokensPerDay')).to.equal(tokens);
    const usage = (await new PanelClient(under.url).get('/usage?by=label&step=1d')) as {
      data: readonly { group: { id: string } | string | null; requests: number }[];
    };
    expect(usage.data.map(({ requests }) => requests)).to.deep.equal([1, 1, 1]);
  });

  it('may be of a model without a price only where no budget counts it', async () => {
    const under = await start(guard);
    const key = await issueKey(under, 'paying', { usdPerDay: 100 });
    expect(await errorIn(await send(under, key))).to.include({ status: 403, code: 'forbidden' });
    expect((await send(under)).status).to.equal(200);
  });

  it('has the usage tags and the pipeline of its request', async () => {
    const pipelines = [{ name: 'red', changes: [{ set: 'max-tokens', with: { cap: 100 } }] }];
    const under = await start(`ctx.state.trace.tag('feature', 'chat'); ${guard}`, { config: { pipelines } });
    const key = await issueKey(under, 'of-red', { pipeline: 'red' });
    expect((await send(under, key)).status).to.equal(200);
    const [call] = await rowsOf(under, '?label=guard');
    expect(call).to.deep.include({ pipeline: 'red', tags: { feature: 'chat' } });
  });

  it('makes eight calls at once of one request, and no ninth', async () => {
    const code = `
      const nine = Array.from({ length: 9 }, () => host.call(ask('x'), { ctx, label: 'many' }));
      const results = await Promise.allSettled(nine);
      ctx.set('x-results', results.map(({ status, reason }) => reason?.message ?? status).join('; '));
      await host.call(ask('x'), { ctx, label: 'later' });`;
    const under = await start(code);
    const results = (await send(under)).headers.get('x-results')!.split('; ');
    expect(results.slice(0, 8)).to.deep.equal(Array(8).fill('fulfilled'));
    expect(results[8]).to.equal('host.call: 8 calls of this request are under way');
    expect(await rowsOf(under, '?label=later')).to.have.length(1);
  });

  it('is told of wrong arguments', async () => {
    const wrong = [
      `[{ model: 3 }, { ctx, label: 'a' }]`,
      `[ask('x'), { ctx }]`,
      `[ask('x'), { ctx, label: 'no spaces' }]`,
      `[ask('x'), { label: 'a' }]`,
      `[ask('x'), { ctx, billTo: 'k', label: 'a' }]`,
      `[ask('x'), { ctx, label: 'a', slots: 'a' }]`,
      `[ask('x'), { ctx, label: 'a', signal: {} }]`,
    ];
    const code = `
      const errors = [];
      for (const args of [${wrong.join(', ')}]) errors.push(await host.call(...args).catch((error) => error.name));
      ctx.set('x-errors', errors.join());`;
    const under = await start(code);
    expect((await send(under)).headers.get('x-errors')).to.equal(Array(7).fill('TypeError').join());
    expect(modelsTo(under)).to.deep.equal(['sonnet-5']);
  });

  it('cannot call in setup, and is told so', async () => {
    const setup = `host.call(ask('x'), { billTo: 'master', label: 'a' }).catch((error) => (globalThis.ofSetup = error));`;
    await start('', { setup });
    expect(Reflect.get(globalThis, 'ofSetup')).to.have.property(
      'message',
      'host.call cannot be used in setup: it is for requests and timers.',
    );
    Reflect.deleteProperty(globalThis, 'ofSetup');
  });

  it('calls at the expense of a key, without a request', async () => {
    const code = `
      const call = host.call(ask('x'), { billTo: ctx.get('x-bill-to'), label: 'nightly' });
      ctx.set('x-result', await call.then(({ slot }) => slot, (error) => error.status + ' ' + error.code));`;
    const under = await start(code);
    await issueKey(under, 'team-key', { requestsPerMinute: 1 });
    await issueKey(under, 'ended', { revokedAtMs: 1 });
    const results = [];
    for (const key of ['team-key', 'team-key', 'master', 'ended', 'unknown']) {
      const response = await under.post('/v1/messages', ask('Hi'), { 'x-bill-to': key });
      results.push(response.headers.get('x-result'));
      await response.text();
    }
    expect(results).to.deep.equal(['a', '429 rate_limited', 'a', '403 forbidden', '403 forbidden']);
    const rows = await rowsOf(under, '?label=nightly');
    const shown = rows.map(({ key, status, parent }) => `${key?.id} ${status} ${parent}`);
    expect(shown.toSorted()).to.deep.equal(['master 200 null', 'team-key 200 null', 'team-key 429 null']);
    expect(new Set(rows.map((row) => row.request_id)).size).to.equal(3);
  });

  it('is counted in metrics by stage and label, with its tokens', async () => {
    const under = await start(guard);
    await send(under);
    await rowsOf(under);
    const text = await (await under.get('/metrics')).text();
    expect(text).to.include('gw2api_stage_calls_total{stage="calling",label="guard",outcome="completed"} 1');
    expect(text).to.match(/gw2api_requests_total\{operation="generate",[^}]*\} 1\n/);
    expect(text).to.match(/gw2api_upstream_attempts_total\{slot="a"\} 2\n/);
    expect(text).to.match(/gw2api_tokens_total\{model="haiku-5",slot="a",kind="output"\} [1-9]/);
  });

  it('follows alternatives by the conditions of its request', async () => {
    const alternatives = {
      oneOf: [
        { use: 'slot-pick', when: { header: { 'x-way': 'b' } }, with: { slots: ['b'] } },
        { use: 'slot-pick', name: 'others', with: { slots: ['a'] } },
      ],
    };
    const pipeline = (await callingPipeline(folders, guard)).map((entry) =>
      'use' in entry && entry.use === 'slot-pick' ? alternatives : entry,
    );
    pair = await startPair({ pipeline }, {}, (url) => [slotAt(url), slotAt(url, slotB)]);
    for (const way of ['b', 'a']) await (await pair.post('/v1/messages', ask('Hi'), { 'x-way': way })).text();
    expect((await rowsOf(pair, '?label=guard')).map(({ slot }) => slot)).to.deep.equal(['a', 'b']);
  });

  it('has its error text, where these are kept', async () => {
    const failing = `await host.call(ask('x'), { ctx, label: 'guard' }).catch(() => undefined);`;
    const under = await start(failing, { config: { ledger: { errorTexts: true } } });
    under.simulator.faults.push('400 times=1');
    await send(under);
    const [call] = await rowsOf(under, '?label=guard');
    const { error_text: text } = (await new PanelClient(under.url).get(`/requests/${call!.id}`)) as {
      error_text: object;
    };
    expect(text).to.include({ state: 'kept' }).and.to.have.property('text').that.matches(/\w/);
  });

  it('is an event for listeners to settled requests, with its label and parent', async () => {
    const setup = `host.events.on('request.settled', ({ id, atMs, label, parent }) =>
      host.log.info({ row: atMs + '.' + id, label, parent }, 'settled'));`;
    const under = await start(guard, { setup });
    await send(under);
    await rowsOf(under);
    const settled = () => under.logged.filter(({ msg }) => msg === 'settled');
    await eventually(() => settled().length === 2);
    const [call, request] = settled();
    expect(call).to.include({ label: 'guard', parent: request!['row'] });
    expect(request).to.include({ label: undefined, parent: undefined });
  });

  it('works in a strict gateway', async () => {
    const simulator = await startSimulator();
    const code = `ctx.set('x-error', await host.call(ask('x'), { ctx, label: 'a' }).then(() => 'none', ({ message }) => message));`;
    const pipeline = await callingPipeline(folders, code);
    const strict = await startGateway({ pipeline, slots: [slotAt(simulator.url)] }, { GW_STRICT: '1' });
    const declared = await strict.post('/v1/messages', ask('Hi'));
    await declared.text();
    expect(declared.headers.get('x-error')).to.equal('none');
    await strict.close();
    await simulator.close();
  });

  it('needs a stage that makes calls, and says so', async () => {
    const folder = await folders.make({
      'own.mjs': `import { textReply } from '@gw2api/gateway/plugin';
        export default { name: 'own', requires: ['request'], provides: ['reply'],
          operations: ['generate', 'count-tokens'], setup: () => async (ctx, next) => {
          ctx.state.reply = textReply('Mine.');
          await next();
        } };`,
    });
    const said = `ctx.set('x-said', await host.call(ask('x'), { ctx, label: 'a' }).catch(({ message }) => message));`;
    const pipeline = (await callingPipeline(folders, said)).map((entry) =>
      'use' in entry && entry.use === 'upstream-call' ? { use: `${folder}/own.mjs` } : entry,
    );
    pair = await startPair({ pipeline });
    const response = await send(pair);
    expect(response.headers.get('x-said')).to.match(/^host\.call: no stage of the pipeline makes calls; /);
    const [call] = await rowsOf(pair, '?label=a');
    expect(call).to.include({ status: 500, code: 'internal', attempts: 0 });
  });
});
