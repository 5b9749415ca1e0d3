import { once } from 'node:events';
import { request as openRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { ask, configOf, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from './harness.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import { TempFolders, type Files } from './temp-folders.js';

const folders = new TempFolders();
let upstream: HeldUpstream;
let under: GatewayUnderTest;

beforeEach(async () => {
  upstream = await startHeldUpstream();
});
afterEach(async () => {
  await upstream.close();
  await under?.close();
  await folders.remove();
});

/** Starts a gateway from a file in a folder of its own, somewhere outside of this package. */
async function start(pipeline: readonly object[], files: Files = {}, config: object = {}): Promise<void> {
  const slots = [slotAt(upstream.url)];
  const folder = await folders.make({ ...files, 'gateway.yaml': configOf({ slots, ...config, pipeline }) });
  under = await startGateway(`${folder}/gateway.yaml`);
}

/** A whole answer of the upstream, which says `Hello.` */
async function answered(
  body: object = ask('Hi'),
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/messages',
): Promise<Response> {
  const response = under.post(path, body, headers);
  (await upstream.next()).finish();
  return response;
}

async function errorIn(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: object };
  return { status: response.status, ...error };
}

const internal = {
  status: 500,
  type: 'api_error',
  code: 'internal',
  message: 'The gateway failed on this request; its log says why.',
};

describe('@koa/cors by its name', () => {
  const cors = { use: '@koa/cors', with: { exposeHeaders: 'x-gw-slot', maxAge: 600 } };
  const origin = 'https://app.example';

  function preflight(path: string): Promise<Response> {
    return fetch(under.url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
  }

  for (const path of ['/messages', '/chat/completions', '/responses', '/completions', '/models', '/usage'])
    it(`answers the preflight of ${path}, with /v1 and without, without a key`, async () => {
      await start([cors, ...stages()]);
      for (const asked of [`/v1${path}`, path]) {
        const answer = await preflight(asked);
        expect(answer.status, asked).to.equal(204);
        const { headers } = answer;
        expect(headers.get('access-control-allow-origin')).to.equal('*');
        expect(headers.get('access-control-allow-methods')).to.include('POST');
        expect(headers.get('access-control-allow-headers')).to.equal('content-type,x-api-key');
        expect(headers.get('access-control-max-age')).to.equal('600');
        expect(await answer.text()).to.equal('');
      }
    });

  it('lets a page read answers, streams and errors', async () => {
    await start([cors, ...stages()]);
    const whole = await answered(ask('Hi'), { origin });
    const stream = await answered(ask('Hi', { stream: true }), { origin });
    const refused = await under.post('/v1/messages', ask('Hi'), { origin, 'x-api-key': 'wrong' });
    const unknown = await under.get('/v1/nothing', { origin });
    expect([whole, stream, refused, unknown].map(({ status }) => status)).to.deep.equal([200, 200, 401, 404]);
    for (const { headers } of [whole, stream, refused, unknown]) {
      expect(headers.get('access-control-allow-origin')).to.equal('*');
      expect(headers.get('access-control-expose-headers')).to.equal('x-gw-slot');
    }
    expect(await stream.text()).to.include('event: message_stop');
  });

  it('leaves OPTIONS that is no preflight to the gateway', async () => {
    await start([cors, ...stages()]);
    const answer = await fetch(`${under.url}/v1/messages`, { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([204, 'POST, OPTIONS']);
  });

  it('refuses options that cannot be set up, at its place', async () => {
    const failed = await start([{ use: '@koa/corse' }, ...stages()]).catch((error: Error) => error.message);
    expect(failed).to.match(/gateway\.yaml:1:\d+ pipeline\[0\]\.use "@koa\/corse" is neither a built-in nor/);
  });
});

describe('koa-compress by its name', () => {
  const compress = { use: 'koa-compress', with: { threshold: 0 } };

  /** fetch would ask for compression, and hide it. */
  async function raw(body: object, encoding: string): Promise<IncomingMessage> {
    const sent = openRequest(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': masterKey,
        'accept-encoding': encoding,
      },
    });
    sent.end(JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  it('compresses whole answers', async () => {
    await start([compress, ...stages()]);
    const asked = raw(ask('Hi'), 'gzip');
    (await upstream.next()).finish();
    const response = await asked;
    expect(response.headers['content-encoding']).to.equal('gzip');
    response.resume();
    const read = await answered();
    expect(read.headers.get('content-encoding')).to.be.a('string');
    expect(((await read.json()) as { content: unknown }).content).to.deep.equal([
      { type: 'text', text: 'Hello.' },
    ]);
    const plain = await under.get('/v1/models', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(((await plain.json()) as { object: string }).object).to.equal('list');
  });

  it('does not hold streams back: each event is there while the answer is still open', async () => {
    await start([compress, ...stages()]);
    const response = await raw(ask('Hi', { stream: true }), 'gzip, deflate, br');
    expect(response.headers['content-encoding']).to.equal(undefined);
    const answer = await upstream.next();
    let text = '';
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>; // without an encoding they are buffers
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) text += String((await chunks.next()).value);
    };
    await until('Hello.');
    for (const word of ['one', 'two', 'three']) {
      answer.say(word);
      await until(word);
    }
    expect(response.complete).to.equal(false);
    answer.finish();
    await until('message_stop');
  });
});

describe('a plugin by its path', () => {
  const forms: Files = {
    'esm.js': `import { definePlugin, GatewayError } from 'gw2api/plugin';
      import { Type } from 'typebox';
      export default definePlugin({
        name: 'esm',
        requires: ['request'],
        provides: ['request'],
        options: Type.Object({ word: Type.String({ default: 'please' }) }),
        setup: ({ word }) => async (ctx, next) => {
          if (!(new GatewayError('internal', '') instanceof Error)) throw new Error();
          const { request } = ctx.state;
          ctx.state.request = { ...request, system: word };
          await next();
        },
      });`,
    'plain.js': `export default {
        name: 'plain',
        requires: ['request'],
        provides: ['request'],
        setup: () => async (ctx, next) => {
          ctx.state.request = { ...ctx.state.request, system: 'please' };
          await next();
        },
      };`,
    'factory.js': `export default function factory({ word }) {
        return async (ctx, next) => { ctx.set('x-word', word); await next(); };
      }`,
    'common.cjs': `module.exports = {
        name: 'common',
        requires: ['request'],
        provides: ['request'],
        setup: () => async (ctx, next) => {
          ctx.state.request = { ...ctx.state.request, system: 'please' };
          await next();
        },
      };`,
    'sub/asynchronous.mjs': `export default async ({ word }) => async (ctx, next) => { ctx.set('x-word', word); await next(); };`,
  };

  for (const use of ['./esm.js', './plain.js', './common.cjs'])
    it(`changes the request: ${use}`, async () => {
      const [auth, limit, decode, ...rest] = stages({ without: ['persona-inject'] });
      await start([auth!, limit!, decode!, { use }, ...rest], forms);
      const response = under.post('/v1/chat/completions', {
        model: 'sonnet-5',
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const call = await upstream.next();
      expect(call.text).to.match(/"system":(\[\{"type":"text","text":)?"please"/);
      call.finish();
      expect((await response).status).to.equal(200);
    });

  for (const use of ['./factory.js', './sub/asynchronous.mjs'])
    it(`is any Koa middleware, which sees every request under /v1: ${use}`, async () => {
      await start([{ use, with: { word: 'please' } }, ...stages()], forms);
      const answers = [
        await answered(),
        await under.get('/v1/models'),
        await under.get('/models/x'),
        await under.get('/v1/x'),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 404, 404]);
      for (const { headers } of answers) expect(headers.get('x-word')).to.equal('please');
      expect((await under.get('/health')).headers.get('x-word')).to.equal(null);
    });
});

describe('a condition', () => {
  const tag: Files = {
    'tag.js': `export default { name: 'tag', requires: ['request', 'caller'], setup: () => async (ctx, next) => {
      ctx.set('x-tag', 'yes'); await next(); } };`,
    'any.js': `export default () => async (ctx, next) => { ctx.set('x-tag', 'yes'); await next(); };`,
  };

  async function startWhen(when: object): Promise<void> {
    const [auth, limit, decode, ...rest] = stages();
    await start([auth!, limit!, decode!, { use: './tag.js', when }, ...rest], tag);
  }

  const isTagged = (response: Response) => response.headers.get('x-tag') === 'yes';
  const chat = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hi' }] };

  it('on the format holds for requests of that format', async () => {
    await startWhen({ format: ['chat', 'completions'] });
    expect(isTagged(await answered(chat, {}, '/v1/chat/completions'))).to.equal(true);
    expect(isTagged(await answered({ model: 'sonnet-5', prompt: 'Hi' }, {}, '/completions'))).to.equal(true);
    expect(isTagged(await answered())).to.equal(false);
  });

  it('on the model holds for catalog ids, also by an alias', async () => {
    await startWhen({ model: 'sonnet-5' });
    expect(isTagged(await answered(ask('Hi')))).to.equal(true);
    expect(isTagged(await answered(ask('Hi', { model: 'sonnet' })))).to.equal(true);
    expect(isTagged(await answered(ask('Hi', { model: 'sonnet-5-5' })))).to.equal(false);
    expect(isTagged(await answered(ask('Hi', { model: 'unknown' })))).to.equal(false);
  });

  it('on the caller holds for key ids and names', async () => {
    await startWhen({ caller: ['master', 'nobody'] });
    expect(isTagged(await answered())).to.equal(true);
    await under.close();
    await startWhen({ caller: 'team-*' });
    expect(isTagged(await answered())).to.equal(false);
  });

  it('on the operation holds for requests of that kind', async () => {
    await start([...stages(), { use: './any.js', when: { operation: ['models', 'usage'] } }], tag);
    expect(isTagged(await under.get('/v1/models'))).to.equal(true);
    expect(isTagged(await under.get('/v1/usage'))).to.equal(true);
    expect(isTagged(await answered())).to.equal(false);
  });

  it('has to hold in all its parts', async () => {
    await startWhen({ format: 'messages', model: 'haiku-*' });
    expect(isTagged(await answered(ask('Hi', { model: 'haiku-5' })))).to.equal(true);
    expect(isTagged(await answered(ask('Hi')))).to.equal(false);
    expect(isTagged(await answered({ ...chat, model: 'haiku-5' }, {}, '/v1/chat/completions'))).to.equal(
      false,
    );
  });
});

describe('a stage that is switched off', () => {
  it('is neither loaded nor checked nor passed', async () => {
    await start([
      { use: './not-there.js', enabled: false, with: { key: '${NOT_SET}' } },
      ...stages().map((stage) =>
        'use' in stage && stage.use === 'max-tokens' ? { ...stage, enabled: false } : stage,
      ),
    ]);
    const response = under.post('/v1/messages', ask('Hi', { max_tokens: 999_999 }));
    const call = await upstream.next();
    expect(JSON.parse(call.text)).to.include({ max_tokens: 999_999 });
    call.finish();
    expect((await response).status).to.equal(200);
  });
});

describe('a plugin in place of a built-in', () => {
  function replaced(name: string): readonly object[] {
    return stages().map((stage) =>
      'use' in stage && stage.use === name ? { use: `./own-${name}.js` } : stage,
    );
  }

  it('can be its own auth', async () => {
    await start(replaced('auth'), {
      'own-auth.js': `import { definePlugin, GatewayError } from 'gw2api/plugin';
        export default definePlugin({
          name: 'own-auth',
          provides: ['caller'],
          operations: ['generate', 'count-tokens', 'models', 'usage', 'stored-response'],
          setup: () => async (ctx, next) => {
            const team = ctx.get('x-team');
            if (!team) throw new GatewayError('missing_api_key', 'Say who you are in x-team.');
            ctx.state.caller = { kind: 'key', keyId: team, name: team };
            await next();
          },
        });`,
    });
    expect((await answered(ask('Hi'), { 'x-team': 'blue' })).status).to.equal(200);
    expect(await errorIn(await under.post('/v1/messages', ask('Hi')))).to.include({
      status: 401,
      message: 'Say who you are in x-team.',
    });
    expect((await under.get('/v1/models')).status).to.equal(401);
    await under.gateway.exchanges.idle();
    expect(under.logged.filter(({ msg }) => msg === 'request').map(({ key }) => key)).to.include('blue');
  });

  it('can be its own slot-pick, with places that are given back', async () => {
    await start(
      replaced('slot-pick'),
      {
        'own-slot-pick.js': `import { definePlugin } from 'gw2api/plugin';
          export default definePlugin({
            name: 'own-slot-pick',
            requires: ['request', 'caller'],
            provides: ['lease'],
            operations: ['generate', 'count-tokens'],
            setup: (_, host) => async (ctx, next) => {
              const lease = await host.slots.lease({
                model: ctx.state.request.model,
                policy: (candidates) => candidates.find(({ id }) => id === ctx.get('x-slot')) ?? candidates[0],
                queueTimeoutMs: 1000,
                signal: ctx.state.signal,
              });
              ctx.state.onSettled(() => lease.release());
              ctx.state.lease = lease;
              await next();
            },
          });`,
      },
      { slots: [slotAt(upstream.url), slotAt(upstream.url, { id: 'b' })] },
    );
    const response = await answered(ask('Hi'), { 'x-slot': 'b' });
    expect(response.headers.get('x-gw-slot')).to.equal('b');
    await response.text();
    await under.gateway.exchanges.idle();
    expect(under.gateway.slots.list().map(({ inFlight }) => inFlight)).to.deep.equal([0, 0]);
  });

  it('can be its own upstream-call, which asks nobody', async () => {
    await start(replaced('upstream-call'), {
      'own-upstream-call.js': `import { definePlugin, ModelEvent } from 'gw2api/plugin';
        const events = [
          { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [],
            stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Canned.' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
          { type: 'message_stop' },
        ];
        export default definePlugin({
          name: 'own-upstream-call',
          requires: ['request', 'lease'],
          provides: ['reply', 'count'],
          seals: ['request', 'lease'],
          operations: ['generate', 'count-tokens'],
          setup: () => async (ctx, next) => {
            async function* canned() { yield events.map((event) => ModelEvent.of(event)); }
            ctx.state.count = { inputTokens: 7, estimated: true, slot: 'none', windows: undefined };
            ctx.state.reply = { status: 200, headers: {}, slot: 'none', attempts: 1, events: canned() };
            await next();
          },
        });`,
    });
    const whole = await under.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' });
    expect(await whole.text()).to.include('Canned.');
    const stream = await under.post('/v1/completions', { model: 'sonnet-5', prompt: 'Hi', stream: true });
    expect(await stream.text()).to.match(/Canned\.[^]*\[DONE\]/);
    const count = await under.post('/v1/messages/count_tokens', ask('Hi'));
    expect(await count.json()).to.deep.equal({ input_tokens: 7 });
  });

  it('can be its own format-encode', async () => {
    await start(replaced('format-encode'), {
      'own-format-encode.js': `import { definePlugin } from 'gw2api/plugin';
        export default definePlugin({
          name: 'own-format-encode',
          requires: ['reply'],
          provides: ['response'],
          seals: ['reply'],
          operations: ['generate', 'count-tokens'],
          setup: () => async (ctx, next) => {
            let text = '';
            for await (const batch of ctx.state.reply.events)
              for (const { type, json } of batch)
                if (type === 'content_block_delta') text += json.delta.text;
            ctx.type = 'text/plain';
            ctx.body = text;
            ctx.state.response = true;
            await next();
          },
        });`,
    });
    const response = await answered();
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(await response.text()).to.equal('Hello.');
  });

  it('is refused where it leaves a key out that the stages below need', async () => {
    const failed = await start(replaced('auth'), {
      'own-auth.js': `export default { name: 'own-auth', setup: () => (ctx, next) => next() };`,
    }).catch((error: Error) => error.message);
    expect(failed).to.match(
      /"format-decode" needs "caller", which no stage provides; add "- use: auth" above it$/,
    );
  });
});

describe('a plugin that misbehaves', () => {
  async function startWith(middleware: string): Promise<void> {
    await start([{ use: './bad.js' }, ...stages()], {
      'bad.js': `export default { name: 'bad', setup: () => ${middleware} };`,
    });
  }

  /** Nothing is left behind: no request, no place in a slot. */
  async function isClean(): Promise<void> {
    await under.gateway.exchanges.idle();
    expect(under.gateway.slots.list().map(({ inFlight }) => inFlight)).to.deep.equal([0]);
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
      expect(await errorIn(await under.post('/v1/messages', ask('Hi')))).to.deep.equal(internal);
      const lines = under.logged.filter(({ level }) => level === 'error');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ msg: 'The gateway failed.', code: 'internal' });
      await isClean();
    });

  it('and throws as Koa does is answered for with its status', async () => {
    await startWith(`async (ctx) => ctx.throw(418, 'I am a teapot.')`);
    expect(await errorIn(await under.post('/v1/messages', ask('Hi')))).to.deep.equal({
      status: 418,
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'I am a teapot.',
    });
  });

  it('and calls next twice is answered for with 500', async () => {
    await startWith(`async (ctx, next) => { await next(); await next(); }`);
    expect(await errorIn(await answered())).to.deep.equal(internal);
    await isClean();
  });

  it('and throws when the stream stands ready ends the upstream call too', async () => {
    await startWith(`async (ctx, next) => { await next(); throw new Error('SECRET'); }`);
    const response = under.post('/v1/messages', ask('Hi', { stream: true }));
    const { closed } = await upstream.next();
    expect(await errorIn(await response)).to.deep.equal(internal);
    expect(await closed, 'whether the upstream could finish').to.equal(false);
    await isClean();
  });

  it('and never calls next, nor answers, is answered for with 500', async () => {
    await startWith(`async () => undefined`);
    expect(await errorIn(await under.post('/v1/messages', ask('Hi')))).to.include({
      status: 500,
      code: 'internal',
    });
    await isClean();
  });

  it('and forgets to wait for next is answered for with 500, and nothing is asked for nobody', async () => {
    await startWith(`(ctx, next) => { next().catch(() => undefined); }`);
    expect(await errorIn(await under.post('/v1/messages', ask('Hi')))).to.include({
      status: 500,
      code: 'internal',
    });
    await isClean();
  });

  it('and answers itself is let to', async () => {
    await startWith(`async (ctx) => { ctx.body = { own: ctx.path }; }`);
    const response = await under.post('/v1/messages', ask('Hi'));
    expect([response.status, await response.json()]).to.deep.equal([200, { own: '/v1/messages' }]);
  });

  it('and puts its own answer in place of a stream ends the upstream call too', async () => {
    await startWith(`async (ctx, next) => { await next(); ctx.body = { own: true }; }`);
    const response = under.post('/v1/messages', ask('Hi', { stream: true }));
    const { closed } = await upstream.next();
    expect(await (await response).json()).to.deep.equal({ own: true });
    expect(await closed, 'whether the upstream could finish').to.equal(false);
    await isClean();
  });

  it('and breaks the events ends the stream with an error event', async () => {
    const [auth, limit, decode, ...rest] = stages();
    const call = rest.findIndex((stage) => 'use' in stage && stage.use === 'upstream-call');
    await start(
      [auth!, limit!, decode!, ...rest.slice(0, call + 1), { use: './bad.js' }, ...rest.slice(call + 1)],
      {
        'bad.js': `import { mapEvents } from 'gw2api/plugin';
        export default { name: 'bad', requires: ['reply'], provides: ['reply'], setup: () => async (ctx, next) => {
          const { reply } = ctx.state;
          const events = mapEvents(reply.events, { message_delta() { throw new Error('SECRET'); } });
          ctx.state.reply = { ...reply, events };
          await next();
        } };`,
      },
    );
    const response = await answered(ask('Hi', { stream: true }));
    const text = await response.text();
    expect(text).to.match(/Hello\.[^]*event: error\ndata: .*The gateway failed on this request/);
    expect(text).not.to.match(/SECRET|message_stop/);
    const line = under.logged.find(({ msg }) => msg === 'request');
    expect(line).to.include({ outcome: 'failed', code: 'internal' });
    await isClean();
  });
});
