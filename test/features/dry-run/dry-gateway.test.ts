import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { openGateway } from '#src/features/open.js';
import { DryGateway } from '#src/features/dry-run/dry-gateway.js';
import type { DryOutcome, DryRequest } from '#src/features/dry-run/outcome.js';
import type { DrySettings } from '#src/features/dry-run/settings.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';

const config = `
pipeline:
  - use: auth
  - use: body-limit
  - use: format-decode
  - use: rate-limit
  - use: persona-inject
  - use: web-search-tool
  - use: max-tokens
  - use: slot-pick
  - use: upstream-call
  - use: usage-mask
  - use: format-encode
slots:
  - { id: a, upstream: messages, baseUrl: 'https://a.example', account: { kind: api-key, key: secret-a } }
  - { id: b, upstream: messages, baseUrl: 'https://b.example', account: { kind: api-key, key: secret-b } }
models: ./models.yaml
store: postgres://nobody@127.0.0.1:1/none
live: redis://127.0.0.1:1
`;

const hi = { model: 'sonnet-5', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };

describe('dry gateway', () => {
  const open: DryGateway[] = [];

  afterEach(() => Promise.all(open.splice(0).map((dry) => dry.close())));

  async function dryGateway(settings: DrySettings = {}, text = config): Promise<DryGateway> {
    const file = path.resolve('config/gateway.yaml'); // for the models beside it
    const dry = await DryGateway.open(
      await loadGatewayConfig({ text, file, env: {} }),
      openGateway,
      settings,
    );
    open.push(dry);
    return dry;
  }

  async function outcome(dry: DryGateway, request: DryRequest): Promise<DryOutcome> {
    const [only] = await dry.send([request]);
    if (!only) throw new Error('there is no outcome');
    return only;
  }

  const bodies: Readonly<Record<string, object>> = {
    '/v1/messages': hi,
    '/v1/chat/completions': { model: 'sonnet-5', messages: [{ role: 'user', content: 'hi' }] },
    '/v1/responses': { model: 'sonnet-5', input: 'hi' },
    '/v1/completions': { model: 'sonnet-5', prompt: 'hi' },
  };

  for (const [route, body] of Object.entries(bodies))
    it(`answers ${route} through the whole pipeline, streamed as it is whole`, async () => {
      const dry = await dryGateway({ slots: both('say text="Good day."') });
      const whole = await outcome(dry, { path: route, body });
      const streamed = await outcome(dry, { path: route, body: { ...body, stream: true } });
      for (const one of [whole, streamed]) {
        expect(one).to.include({ status: 200, text: 'Good day.', attempts: 1, complete: true });
        expect(one.stages).to.deep.equal(stageNames);
        expect(one.upstream).to.have.nested.property('system[0].text');
        expect(one.usage.billed.input).to.be.above(one.usage.shown.input);
        expect(one.ledger).to.have.length(1);
      }
      expect(whole.events).to.deep.equal([]);
      expect(streamed.events).to.have.length.above(2);
    });

  it('adds tool calls of a Chat stream up to what the whole answer has', async () => {
    const dry = await dryGateway({ slots: both('parallel n=2') });
    const tools = ['one', 'two'].map((name) => ({
      type: 'function',
      function: {
        name,
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    }));
    const body = { ...bodies['/v1/chat/completions'], tools };
    const [whole, streamed] = await dry.send([
      { path: '/v1/chat/completions', body },
      { path: '/v1/chat/completions', body: { ...body, stream: true } },
    ]);
    const callsOf = (one: DryOutcome | undefined) => {
      const answer = one?.answer as
        | { choices: { message: { tool_calls: { function: object }[] } }[] }
        | undefined;
      return answer?.choices[0]?.message.tool_calls.map((call) => call.function);
    };
    expect(callsOf(whole)).to.have.length(2);
    expect(callsOf(streamed)).to.deep.equal(callsOf(whole));
  });

  it('shows what went out, with the headers that the account has set', async () => {
    const dry = await dryGateway();
    const { outgoing } = await outcome(dry, { path: '/v1/messages', body: hi });
    const slot = outgoing[0]?.slot;
    expect(outgoing[0]).to.deep.include({
      slot,
      method: 'POST',
      path: '/v1/messages',
      credential: ['x-api-key'],
    });
    expect(outgoing[0]?.headers).to.include({ 'x-api-key': `secret-${slot}` });
  });

  it('answers calls of stages by the slots of the run, and has their rows behind that of the request', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-'));
    const ask = `{ model: 'haiku-5', messages: [{ role: 'user', content: 'Is it harmless?' }] }`;
    const calls = `host.call(${ask}, { ctx, label: 'guard', slots: ['b'] });
      void host.call(ctx.state.request, { ctx, label: 'mirror', slots: ['b'] });
      void host.call(${ask}, { billTo: 'key_of_the_store', label: 'free', slots: ['b'] });`;
    await writeFile(
      path.join(folder, 'calls.mjs'),
      `import { hold } from '@gw2api/gateway/plugin';
       export default { name: 'calls', requires: ['request', 'caller'], setup: (_, host) => async (ctx, next) => {
         const { message } = await hold(await ${calls}
         ctx.set('x-said', message.content[0].text);
         await next();
       } };`.replace(`slots: ['b'] });`, `slots: ['b'] }));`),
    );
    const text = config.replace(
      '  - use: slot-pick\n',
      `  - use: ${folder}/calls.mjs\n  - { use: slot-pick, with: { slots: [a] } }\n`,
    );
    const dry = await dryGateway(
      { slots: { a: ['say text=Hello'], b: ['say text=Harmless slow=5s'] } },
      text,
    );
    const one = await outcome(dry, { path: '/v1/messages', body: hi });
    expect(one).to.include({ status: 200, text: 'Hello', attempts: 1, slot: 'a' });
    expect(one.headers).to.include({ 'x-said': 'Harmless' });
    expect(one.ledger.map(({ label = '', slot }) => `${label} ${slot}`)).to.have.members([
      ' a',
      'guard b',
      'mirror b',
      'free b',
    ]);
    expect(one.ledger[0]).not.to.have.property('label');
    const own = one.outgoing.findLast(({ slot, path: to }) => slot === 'a' && to === '/v1/messages');
    expect(one.upstream).to.equal(own!.body);
    expect(one.outgoing.filter(({ slot }) => slot === 'b')).to.have.length(3);
    expect((await outcome(dry, { path: '/v1/messages', body: hi })).ledger).to.have.length(4);
  });

  it('gives up a body that does not come to its end, by the dry clock', async () => {
    const dry = await dryGateway();
    const headers = { 'content-length': '100000' };
    const one = await outcome(dry, { path: '/v1/messages', body: hi, headers });
    expect(one).to.include({ status: 408 });
    expect(one.durationMs).to.be.within(30_000, 40_000);
  });

  it('fails over to the slot that answers, and shows the states of both', async () => {
    const slots = { a: ['429 retry-after=30'], b: ['429 retry-after=30'] };
    const dry = await dryGateway({ slots });
    const request = { path: '/v1/messages', body: hi };
    dry.answerWith('b', []);
    const [first, second] = [await outcome(dry, request), await outcome(dry, request)];
    for (const one of [first, second]) expect(one).to.include({ status: 200, slot: 'b' });
    expect([first, second].flatMap(({ calls }) => calls).filter(({ slot }) => slot === 'a')).to.have.length(
      1,
    );
    expect(second.slots['a']?.models).to.have.length(1);
    await dry.pass(31_000);
    expect((await outcome(dry, { path: '/v1/models' })).slots['a']?.models).to.deep.equal([]);
  });

  it('answers a refusal of the upstream in the dialect of the caller', async () => {
    const dry = await dryGateway({ slots: both('400 message="No."') });
    const one = await outcome(dry, { path: '/v1/chat/completions', body: bodies['/v1/chat/completions'] });
    expect(one.status).to.equal(400);
    expect(one.error?.message).to.equal('No.');
  });

  it('holds keys to their terms, and refuses a request without one', async () => {
    const dry = await dryGateway({
      keys: { small: { requestsPerMinute: 1 }, narrow: { models: ['opus-*'] } },
    });
    const request = { path: '/v1/messages', body: hi };
    expect((await outcome(dry, { ...request, key: null })).error?.code).to.match(/key|authentication/);
    expect((await outcome(dry, { ...request, key: 'small' })).status).to.equal(200);
    expect((await outcome(dry, { ...request, key: 'small' })).status).to.equal(429);
    expect((await outcome(dry, { ...request, key: 'narrow' })).status).to.equal(403);
    await dry.pass(61_000);
    expect((await outcome(dry, { ...request, key: 'small' })).status).to.equal(200);
  });

  it('lets the master key see the operator side', async () => {
    const dry = await dryGateway();
    const one = await outcome(dry, { path: '/admin/slots', key: 'master' });
    expect(one.status).to.equal(200);
  });

  it('shows the dropped fields', async () => {
    const dry = await dryGateway();
    const body = { ...bodies['/v1/chat/completions'], logit_bias: { 1: 2 } };
    const { dropped } = await outcome(dry, { path: '/v1/chat/completions', body });
    expect(dropped).to.deep.equal(['logit_bias']);
  });

  it('shows a stream that breaks off as far as it came', async () => {
    const dry = await dryGateway({ slots: both('cut after=5') });
    const one = await outcome(dry, { path: '/v1/messages', body: { ...hi, stream: true } });
    expect(one.status).to.equal(200);
    expect(one.error).to.include({ code: 'upstream_error' });
  });

  it('lets a caller leave in the middle of its stream', async () => {
    const dry = await dryGateway({ slots: both('tokens n=500', 'slow ms=100') });
    const leave = { afterEvents: 4 };
    const one = await outcome(dry, {
      path: '/v1/messages',
      body: { ...hi, max_tokens: 1000, stream: true },
      leave,
    });
    expect(one.events).to.have.length(4);
    expect(one.complete).to.equal(false);
    expect(one.ledger[0]).to.include({ failed: false });
  });

  it('lets a caller leave before it reads anything', async () => {
    const dry = await dryGateway();
    const left = await outcome(dry, {
      path: '/v1/messages',
      body: { ...hi, stream: true },
      leave: { afterEvents: 0 },
    });
    expect(left).to.deep.include({ complete: false, events: [] });
  });

  it('has the record of a caller that left before the answer began', async () => {
    const dry = await dryGateway({ slots: both('late ms=5000') });
    const left = await outcome(dry, { path: '/v1/messages', body: hi, leave: { afterMs: 2000 } });
    expect(left).to.include({ status: 499, attempts: 1, complete: false, durationMs: 2000 });
    expect(left.ledger).to.have.length(1);
  });

  it('tells requests apart that have the same id, and shares what went out', async () => {
    const dry = await dryGateway({ keys: { small: { models: ['none'] } } });
    const one = { path: '/v1/messages', body: hi, headers: { 'x-request-id': 'same' } };
    const [good, refused] = await dry.send([one, { ...one, key: 'small' }]);
    expect([good!.status, good!.attempts, refused!.status, refused!.attempts]).to.deep.equal([
      200, 1, 403, 0,
    ]);
    expect(refused!.outgoing).to.deep.equal(good!.outgoing);
    expect([good!.upstream, refused!.upstream]).to.deep.equal([undefined, undefined]);
  });

  it('waits for other threads that compress an answer', async () => {
    const slots = { a: ['size kb=4000', 'gzip'], b: ['size kb=4000', 'br'] };
    const dry = await dryGateway({ slots });
    for (let count = 0; count < 2; count += 1) {
      const large = await outcome(dry, { path: '/v1/messages', body: hi });
      expect(large).to.include({ status: 200, durationMs: 0, attempts: 1 });
    }
  });

  it('lets a month end', async () => {
    const startMs = Date.UTC(2026, 0, 30); // each day has timers by the ten thousand
    const dry = await dryGateway({ startMs, keys: { small: { tokensPerMonth: 1 } } });
    const ask = async () => (await outcome(dry, { path: '/v1/messages', body: hi, key: 'small' })).status;
    expect([await ask(), await ask()]).to.deep.equal([200, 429]);
    await dry.pass(3 * 24 * 3_600_000);
    expect(await ask()).to.equal(200);
  });

  it('does not wait for calls that go on when it is closed', async () => {
    const dry = await dryGateway({ slots: both('slow ms=100') });
    await outcome(dry, { path: '/v1/messages', body: { ...hi, stream: true } });
    const given = new AbortController();
    const late = delay(4000, 'late', { signal: given.signal }).catch(() => 'closed');
    expect(await Promise.race([late, dry.close().then(() => 'closed')])).to.equal('closed');
    given.abort();
  });

  it('ends what is under way when it is closed', async () => {
    const dry = await dryGateway({ slots: both('hang') });
    const pending = dry.send([{ path: '/v1/messages', body: hi }]);
    const ended = pending.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await dry.close();
    await dry.close();
    expect(await ended).to.be.oneOf(['answered', 'the dry gateway is closed']);
  });

  it('names a slot and a scenario that there is not', async () => {
    await expectError(() => dryGateway({ slots: { c: ['text'] } }), /unknown slot "c"/);
    await expectError(() => dryGateway({ slots: { a: ['txet'] } }), /unknown scenario "txet".*text/);
  });

  it('records nothing', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-dry-'));
    const record = `  - { use: record, with: { folder: ${folder} } }\n  - use: format-decode`;
    const dry = await dryGateway({ startsStages: true }, config.replace('  - use: format-decode', record));
    const one = await outcome(dry, { path: '/v1/messages', body: hi });
    expect(one.stages).to.include('record');
    await dry.close();
    open.length = 0;
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('refuses the connections of plugins, and says where they went', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const connected = { count: 0 };
    server.on('connection', () => (connected.count += 1));
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-dry-'));
    const stage = `
      import { get } from 'node:http';
      export default { name: 'caller', setup: (_, host) => ({ async middleware(ctx, next) {
        ctx.set('x-dry', String(host.dry));
        await new Promise((resolve) => get('http://127.0.0.1:${port}/').on('error', resolve).on('response', resolve));
        return next();
      } }) };`;
    await writeFile(path.join(folder, 'caller.mjs'), stage);
    const text = config.replace(
      '  - use: format-decode',
      `  - use: ${path.join(folder, 'caller.mjs')}\n  - use: format-decode`,
    );
    const dry = await dryGateway({}, text);
    const one = await outcome(dry, { path: '/v1/messages', body: hi });
    server.close();
    expect(one.headers['x-dry']).to.equal('true');
    expect(one.refusedConnections).to.deep.equal([`127.0.0.1:${port}`]);
    expect(connected.count).to.equal(0);
  });

  it('refuses the connections of a stage by host.connect', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-dry-'));
    const stage = `
      export default { name: 'connecting', async setup(_, host) {
        const client = await host.connect('http://127.0.0.1:9/check');
        return async (ctx, next) => {
          const error = await client.send({ path: '/check' }, { signal: ctx.state.signal }).catch((thrown) => thrown);
          ctx.set('x-error', error.message);
          return next();
        };
      } };`;
    await writeFile(path.join(folder, 'connecting.mjs'), stage);
    const text = config.replace(
      '  - use: format-decode',
      `  - use: ${path.join(folder, 'connecting.mjs')}\n  - use: format-decode`,
    );
    const one = await outcome(await dryGateway({}, text), { path: '/v1/messages', body: hi });
    expect(one.headers['x-error']).to.equal('http://127.0.0.1:9 could not be reached.');
    expect(one.refusedConnections).to.deep.equal(['127.0.0.1:9']);
  });
});

function both(...scenarios: readonly string[]): NonNullable<DrySettings['slots']> {
  return { a: scenarios, b: scenarios };
}

const stageNames = [
  'auth',
  'body-limit',
  'format-decode',
  'rate-limit',
  'persona-inject',
  'web-search-tool',
  'max-tokens',
  'slot-pick',
  'upstream-call',
  'usage-mask',
  'format-encode',
];

async function expectError(work: () => Promise<unknown>, message: RegExp): Promise<void> {
  const error: unknown = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.an('error').with.property('message').that.matches(message);
}
