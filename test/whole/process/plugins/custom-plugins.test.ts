import { expect } from 'chai';
import {
  ask,
  eventsIn,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
} from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { callsTo, errorIn, inFlight, lastCall } from '../../kit.js';
import { TempFolders, type Files } from '../../temp-folders.js';

describe('a plugin of a team', () => {
  const folders = new TempFolders();
  let closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
    closers = [];
    await folders.remove();
  });

  /** A pair over files of an operator's; `place` puts their entries into the default pipeline. */
  async function start(files: Files, place: (folder: string) => readonly object[]) {
    const folder = await folders.make(files);
    const pair = await startPair({ pipeline: place(folder) });
    closers.push(() => pair.close());
    return pair;
  }

  /** The default pipeline with an entry before one of its stages. */
  function before(stage: string, entry: object): readonly object[] {
    return stages().flatMap((each) => ('use' in each && each.use === stage ? [entry, each] : [each]));
  }

  const redact = `
    import { definePlugin } from '@gw2api/gateway/plugin';
    export default definePlugin({
      name: 'redact',
      requires: ['request'],
      provides: ['request'],
      options: { type: 'object', properties: { pattern: { type: 'string' } }, required: ['pattern'] },
      setup({ pattern }) {
        return async function redact(ctx, next) {
          const text = JSON.stringify(ctx.state.request).replaceAll(new RegExp(pattern, 'g'), '[removed]');
          ctx.state.request = JSON.parse(text);
          await next();
        };
      },
    });`;

  it('by path, wherever it lies, may import @gw2api/gateway/plugin', async () => {
    const pair = await start({ 'redact.mjs': redact }, (folder) =>
      before('slot-pick', { use: `${folder}/redact.mjs`, with: { pattern: '\\d{16}' } }),
    );
    await pair.post('/v1/messages', ask('My card is 4111111111111111.'));
    expect(JSON.stringify(lastCall(pair.simulator)['messages'])).to.include('My card is [removed].');
  });

  it('may write into a request, however large it is', async () => {
    const code = `export default {
      name: 'blank',
      requires: ['request'],
      setup: () => async function blank(ctx, next) {
        ctx.state.request.messages[1].content = '[removed]';
        await next();
      },
    };`;
    const pair = await start({ 'blank.mjs': code }, (folder) =>
      before('slot-pick', { use: `${folder}/blank.mjs` }),
    );
    const messages = Array.from({ length: 9 }, () => ({ role: 'user', content: 'secret '.repeat(2000) }));
    await pair.post('/v1/messages', ask('', { messages }));
    expect(lastCall(pair.simulator)['messages']).to.deep.equal(
      messages.with(1, { role: 'user', content: '[removed]' }),
    );
  });

  it('is told what is wrong with its options, with what it may say', async () => {
    const folder = await folders.make({ 'redact.mjs': redact });
    const pipeline = before('slot-pick', { use: `${folder}/redact.mjs`, with: { patern: 'x' } });
    const error = await startGateway({ pipeline, slots: [{ id: 'a', upstream: 'simulator' }] }).then(
      () => '',
      (thrown: unknown) => String(thrown),
    );
    expect(error).to.match(/with\.patern: [^\n]*did you mean "pattern"\?/);
  });

  it('may take the headers off an answer: the ledger has its slot and its attempts all the same', async () => {
    const code = `export default {
      name: 'bare',
      setup: () => async function bare(ctx, next) {
        await next();
        for (const header of ['x-gw-slot', 'x-gw-attempts', 'request-id']) ctx.remove(header);
      },
    };`;
    const pair = await start({ 'bare.mjs': code }, (folder) =>
      before('format-decode', { use: `${folder}/bare.mjs` }),
    );
    const response = await pair.post('/v1/messages', ask('Hello!'));
    expect(response.headers.get('x-gw-slot')).to.equal(null);
    await response.text();
    await pair.gateway.exchanges.idle();
    await pair.gateway.services.ledger.flush();
    const { rows } = await pair.gateway.services.store.ledger.requests({}, { limit: 10 });
    expect(rows.map(({ slot, attempts }) => ({ slot, attempts }))).to.deep.equal([
      { slot: 'a', attempts: 1 },
    ]);
  });

  it('may change events of one type, and the others pass as they came', async () => {
    const shout = `
      import { definePlugin, mapEvents } from '@gw2api/gateway/plugin';
      export default definePlugin({
        name: 'shout', requires: ['reply'], provides: ['reply'],
        setup: () => async (ctx, next) => {
          const louder = (event) => event.delta.type === 'text_delta'
            ? { ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } } : event;
          ctx.state.reply = {
            ...ctx.state.reply,
            events: mapEvents(ctx.state.reply.events, { content_block_delta: louder }),
          };
          await next();
        },
      });`;
    const pair = await start({ 'shout.mjs': shout }, (folder) =>
      before('usage-mask', { use: `${folder}/shout.mjs` }),
    );
    const whole = await pair.post('/v1/messages', ask('[[sim:say text="quiet words"]]'));
    expect(await whole.text()).to.include('QUIET WORDS');
    const text = await (
      await pair.post('/v1/chat/completions', {
        model: 'sonnet-5',
        stream: true,
        messages: [{ role: 'user', content: '[[sim:say text="quiet words"]]' }],
      })
    ).text();
    expect(text).to.include('QUIET').and.not.include('quiet');
  });

  const watch = `
    import { definePlugin, mapEvents } from '@gw2api/gateway/plugin';
    export default definePlugin({
      name: 'watch', requires: ['reply'], provides: ['reply'],
      setup: (_, host) => async (ctx, next) => {
        const say = (what) => host.log.info({ what }, 'watch');
        ctx.state.onSettled((outcome) => say(outcome));
        ctx.state.signal.addEventListener('abort', () => say('signal'));
        ctx.state.reply = {
          ...ctx.state.reply,
          events: mapEvents(ctx.state.reply.events, { message_stop: (event) => (say(event.type), event) }),
        };
        await next();
        say('after next');
      },
    });`;
  const said = ({ logged }: GatewayUnderTest) =>
    logged.filter(({ msg }) => msg === 'watch').map(({ what }) => what);

  it('sees next() return before the answer is finished; the end comes to onSettled, once', async () => {
    const upstream = await startHeldUpstream();
    const folder = await folders.make({ 'watch.mjs': watch });
    const pipeline = before('usage-mask', { use: `${folder}/watch.mjs` });
    const under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] });
    closers.push(
      () => upstream.close(),
      () => under.close(),
    );
    const stream = await under.post('/v1/messages', ask('Hello!', { stream: true }));
    const answer = await upstream.next();
    expect(said(under)).to.deep.equal(['after next']);
    answer.finish();
    await stream.text();
    await under.gateway.exchanges.idle();
    expect(said(under).slice(0, 2)).to.deep.equal(['after next', 'message_stop']);
    expect(said(under).slice(2)).to.have.members(['completed', 'signal']);

    const leave = new AbortController();
    const left = fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify(ask('Hello!', { stream: true })),
      signal: leave.signal,
    });
    await left;
    leave.abort();
    await (
      await upstream.next()
    ).closed;
    await under.gateway.exchanges.idle();
    expect(said(under).slice(4)).to.have.members(['after next', 'abandoned', 'signal']);
  });

  it('hears of a stream that broke as failed', async () => {
    const pair = await start({ 'watch.mjs': watch }, (folder) =>
      before('usage-mask', { use: `${folder}/watch.mjs` }),
    );
    await (
      await pair.post('/v1/messages', ask('[[sim:tokens n=20]][[sim:cut after=9]]', { stream: true }))
    ).text();
    await pair.gateway.exchanges.idle();
    expect(said(pair)).to.include('failed').and.not.include('completed');
  });

  it('may ask the model again by an interceptor; the highest one in the list is the outermost', async () => {
    const interceptor = (name: string) => `
      import { definePlugin } from '@gw2api/gateway/plugin';
      export default definePlugin({
        name: '${name}', requires: ['request'], intercepts: true,
        setup: () => ({
          async intercept(request, call) {
            const messages = [...request.messages, { role: 'assistant', content: '${name} asks' }, { role: 'user', content: 'Go on.' }];
            const first = await call(request);
            for await (const _ of first.events);
            return call({ ...request, messages });
          },
        }),
      });`;
    const pair = await start(
      { 'outer.mjs': interceptor('outer'), 'inner.mjs': interceptor('inner') },
      (folder) =>
        before('slot-pick', { use: `${folder}/outer.mjs` }).flatMap((each) =>
          'use' in each && each.use === 'slot-pick' ? [{ use: `${folder}/inner.mjs` }, each] : [each],
        ),
    );
    const response = await pair.post('/v1/messages', ask('Hello!', { stream: true }));
    expect(eventsIn(await response.text()).at(-1)).to.deep.equal({ type: 'message_stop' });
    const asked = callsTo(pair.simulator).map(({ text }) =>
      [...text.matchAll(/(outer|inner) asks/g)].map(([, name]) => name).join(' '),
    );
    expect(asked).to.deep.equal(['', 'inner', 'outer', 'outer inner']);
    await pair.gateway.exchanges.idle();
    expect(inFlight(pair)).to.deep.equal([0]);
  });

  it('may bring a policy of its own', async () => {
    const last = `export default {
      name: 'last-first',
      setup(_, host) {
        host.policies.register('last-first', () => (candidates) => candidates.at(-1));
        return (ctx, next) => next();
      },
    };`;
    const folder = await folders.make({ 'last.mjs': last });
    const pick = { 'slot-pick': { policy: 'last-first' } };
    const pair = await startPair(
      { pipeline: [{ use: `${folder}/last.mjs` }, ...stages({ with: pick })] },
      {},
      (url) => [slotAt(url), slotAt(url, { id: 'b' })],
    );
    closers.push(() => pair.close());
    for (let at = 0; at < 3; at += 1)
      expect((await pair.post('/v1/messages', ask('Hello!'))).headers.get('x-gw-slot')).to.equal('b');
  });

  it('may refuse with words of its own', async () => {
    const refuse = `
      import { definePlugin, GatewayError } from '@gw2api/gateway/plugin';
      export default definePlugin({
        name: 'refuse', requires: ['request'],
        setup: () => async () => {
          throw new GatewayError('budget_used_up', 'Your team has used up its budget.', {
            status: 402, type: 'billing_error', headers: { 'retry-after': '3600' },
          });
        },
      });`;
    const pair = await start({ 'refuse.mjs': refuse }, (folder) =>
      before('slot-pick', { use: `${folder}/refuse.mjs` }),
    );
    const response = await pair.post('/v1/messages', ask('Hello!'));
    expect(response.headers.get('retry-after')).to.equal('3600');
    expect(await errorIn(response)).to.deep.equal({
      status: 402,
      type: 'billing_error',
      code: 'budget_used_up',
      message: 'Your team has used up its budget.',
    });
    expect(callsTo(pair.simulator)).to.deep.equal([]);
  });
});
