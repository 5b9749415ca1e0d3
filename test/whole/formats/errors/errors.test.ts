import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { eventStream, later } from '../../../engine/transport/upstream-kit.js';
import { ask, eventsIn, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, issueKey, raw } from '../../kit.js';
import { scripted } from '../../scripted-upstream.js';

const paths = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  completions: '/v1/completions',
};

/** The same words in each format. */
function inFormat(format: string, text: string, fields: object = {}): object {
  const messages = [{ role: 'user', content: text }];
  const bodies: Readonly<Record<string, object>> = {
    messages: ask(text),
    chat: { model: 'sonnet-5', messages },
    responses: { model: 'sonnet-5', input: text },
    completions: { model: 'sonnet-5', prompt: text },
  };
  return { ...bodies[format], ...fields };
}

const json = { 'content-type': 'application/json' };

describe('errors', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair({ pipeline: stages({ with: { 'body-limit': { limit: 1000 } } }) });
  });
  after(() => pair.close());

  describe('of the gateway itself', () => {
    const cases: readonly {
      what: string;
      status: number;
      type: string;
      code: string;
      send: () => Promise<Response>;
    }[] = [
      {
        what: 'no key',
        status: 401,
        type: 'authentication_error',
        code: 'missing_api_key',
        send: () => fetch(`${pair.url}/v1/models`),
      },
      {
        what: 'an unknown key',
        status: 401,
        type: 'authentication_error',
        code: 'invalid_api_key',
        send: () => pair.get('/v1/models', { 'x-api-key': 'sk-gw-nobody' }),
      },
      {
        what: 'a protocol key on a panel route',
        status: 403,
        type: 'permission_error',
        code: 'forbidden',
        send: async () => pair.get('/api/panel/keys', { 'x-api-key': await issueKey(pair, 'panel') }),
      },
      {
        what: 'an unknown path',
        status: 404,
        type: 'not_found_error',
        code: 'not_found',
        send: () => pair.get('/v1/nothing'),
      },
      {
        what: 'another method',
        status: 405,
        type: 'invalid_request_error',
        code: 'method_not_allowed',
        send: () => pair.get('/v1/messages'),
      },
      {
        what: 'a body beyond the limit',
        status: 413,
        type: 'request_too_large',
        code: 'body_too_large',
        send: () => pair.post('/v1/messages', ask('x'.repeat(1000))),
      },
      {
        what: 'another content type',
        status: 415,
        type: 'invalid_request_error',
        code: 'unsupported_media_type',
        send: () => pair.post('/v1/messages', ask('Hello!'), { 'content-type': 'text/plain' }),
      },
      {
        what: 'a field that is wrong',
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_request',
        send: () => pair.post('/v1/messages', { model: 'sonnet-5' }),
      },
      {
        what: 'an upstream turn with nothing in it',
        status: 502,
        type: 'upstream_error',
        code: 'incomplete_response',
        send: () => pair.post('/v1/messages', ask('[[sim:empty]]')),
      },
      {
        what: 'an upstream that broke off',
        status: 502,
        type: 'upstream_error',
        code: 'upstream_interrupted',
        send: () => pair.post('/v1/messages', ask('[[sim:end after=4]]')),
      },
      {
        what: 'an upstream that is a web page',
        status: 502,
        type: 'upstream_error',
        code: 'upstream_invalid_response',
        send: () => pair.post('/v1/messages', ask('[[sim:html]]')),
      },
    ];
    for (const { what, status, type, code, send } of cases) {
      it(`are ${status} ${code} of type ${type} for ${what}`, async () => {
        const error = await errorIn(await send());
        expect(error).to.include({ status, type, code });
        expect(error.message).not.to.equal('');
      });
    }

    it('name the field of a request that is wrong', async () => {
      const body = {
        model: 'sonnet-5',
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: 7 },
        ],
      };
      const { code, message } = await errorIn(await pair.post('/v1/chat/completions', body));
      expect(code).to.equal('invalid_request');
      expect(message).to.match(/^messages\[1\]\.content: /);
    });

    for (const format of Object.keys(paths) as (keyof typeof paths)[]) {
      it(`are the same object in ${format}, whatever was asked for`, async () => {
        const body = inFormat(format, '[[sim:empty]]', { stream: true });
        const error = await errorIn(await pair.post(paths[format], body));
        expect(error).to.include({ status: 502, type: 'upstream_error', code: 'incomplete_response' });
      });
    }

    it('are 504 upstream_timeout where the upstream stays silent', async () => {
      const pipeline = stages({ with: { 'upstream-call': { headersTimeout: '50ms', attempts: 1 } } });
      const under = await startGateway({ pipeline, slots: [slotAt(pair.simulator.url)] });
      const error = await errorIn(await under.post('/v1/messages', ask('[[sim:hang]]')));
      await under.close();
      expect(error).to.include({ status: 504, type: 'upstream_error', code: 'upstream_timeout' });
    });

    it('are 502 upstream_unreachable where nobody listens', async () => {
      const pipeline = stages({ with: { 'upstream-call': { attempts: 1 } } });
      const under = await startGateway({ pipeline, slots: [slotAt('http://127.0.0.1:9')] });
      const response = await under.post('/v1/messages', ask('Hello!'));
      const error = await errorIn(response);
      await under.close();
      const cooling = under.logged.find(({ msg }) => msg === 'The slot is in cooldown.');
      expect(cooling).to.include({
        slot: 'a',
        reason: 'unreachable',
        cause: 'Slot "a" could not reach its upstream (ECONNREFUSED).',
      });
      expect(error).to.include({ status: 502, type: 'upstream_error', code: 'upstream_unreachable' });
      expect(error.message).to.equal('The upstream could not be reached.');
      expect(response.headers.get('x-gw-slot')).to.equal('a');
      expect(response.headers.get('x-gw-attempts')).to.equal('1');
    });

    it('are 503 no_slot_available where the operator has paused every slot', async () => {
      pair.gateway.services.slots.pause('a');
      const error = await errorIn(await pair.post('/v1/messages', ask('Hello!')));
      pair.gateway.services.slots.resume('a');
      expect(error).to.include({ status: 503, type: 'overloaded_error', code: 'no_slot_available' });
      expect(error.message).to.include('takes requests; tell the gateway');
    });
  });

  describe('of a stage', () => {
    let dir: string;
    before(async () => void (dir = await mkdtemp(path.join(os.tmpdir(), 'gw2api-'))));
    after(() => rm(dir, { recursive: true }));

    /** What a caller is told where the first stage runs `code`. */
    async function toldOf(code: string) {
      const file = path.join(dir, `thrower-${Math.random()}.mjs`);
      await writeFile(file, `export default () => (ctx) => { ${code} };`);
      const pipeline = [{ use: file }, ...stages()];
      const under = await startGateway({ pipeline, slots: [slotAt(pair.simulator.url)] });
      const error = await errorIn(await under.post('/v1/messages', ask('Hello!')));
      await under.close();
      return { error, logged: under.logged };
    }

    it('that nobody foresaw are 500 internal; their text stands in the log and nowhere else', async () => {
      const { error, logged } = await toldOf('throw new Error("the secret is 42")');
      expect(error).to.include({ status: 500, type: 'api_error', code: 'internal' });
      expect(JSON.stringify(error)).not.to.include('secret');
      const line = logged.find(({ level }) => level === 'error');
      expect(line?.['err']).to.be.an('error').with.property('message', 'the secret is 42');
      expect(line?.['id']).to.match(/^req_/);
    });

    it('that is plain Koa keep the status that they were thrown with', async () => {
      const { error } = await toldOf('ctx.throw(418, "I am a teapot")');
      expect(error).to.deep.equal({
        status: 418,
        type: 'invalid_request_error',
        code: 'invalid_request',
        message: 'I am a teapot',
      });
    });

    it('are an answer even where something else than an Error is thrown', async () => {
      const { error } = await toldOf('throw undefined');
      expect(error).to.include({ status: 500, code: 'internal' });
    });

    it('that answers nothing are 500 internal', async () => {
      const { error } = await toldOf('return');
      expect(error).to.include({ status: 500, code: 'internal' });
    });
  });

  describe('of the upstream, before the commit point,', () => {
    for (const status of [400, 403, 404, 413, 500, 502, 503, 504, 529]) {
      it(`keep status ${status}, type and message, and have the type for a code`, async () => {
        const text = `[[sim:${status} message="Words of the upstream."]]`;
        const error = await errorIn(await pair.post('/v1/messages', ask(text)));
        expect(error).to.include({ status, message: 'Words of the upstream.', code: error.type });
        pair.gateway.services.slots.resume('a');
      });
    }

    it('keep the headers that say when to try again', async () => {
      const text = '[[sim:429 retry-after=2 retry-after-ms=1500 x-should-retry=false]]';
      const response = await pair.post('/v1/messages', ask(text));
      pair.gateway.services.slots.resume('a');
      expect(await errorIn(response)).to.include({ status: 429, type: 'rate_limit_error' });
      const told = ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) =>
        response.headers.get(name),
      );
      expect(told).to.deep.equal(['2', '1500', 'false']);
      expect(response.headers.get('anthropic-ratelimit-requests-limit')).to.equal('4000');
      expect(response.headers.get('anthropic-ratelimit-unified-5h-utilization')).to.equal('0.125');
      expect(response.headers.get('request-id')).to.match(/^req_/);
    });

    it('keep error.details', async () => {
      const text = '[[sim:404 code=thread_not_found]]';
      const { details } = await errorIn(await pair.post('/v1/messages', ask(text)));
      expect(details).to.deep.equal({ error_code: 'thread_not_found' });
    });

    for (const format of Object.keys(paths) as (keyof typeof paths)[]) {
      it(`are the same in ${format}`, async () => {
        const body = inFormat(format, '[[sim:400 message="prompt is too long"]]', { stream: true });
        const error = await errorIn(await pair.post(paths[format], body));
        expect(error).to.deep.equal({
          status: 400,
          type: 'invalid_request_error',
          code: 'invalid_request_error',
          message: 'prompt is too long',
        });
      });
    }

    it('keep a code of their own', async () => {
      const upstream = await scripted((_, response) => {
        const error = {
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          message: 'Too long.',
        };
        response.writeHead(400, json).end(JSON.stringify({ error }));
      });
      const under = await startGateway({ slots: [slotAt(upstream.url)] });
      const error = await errorIn(await under.post('/v1/chat/completions', inFormat('chat', 'Hello!')));
      await under.close();
      await upstream.close();
      expect(error).to.deep.equal({
        status: 400,
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: 'Too long.',
      });
    });

    it('become the status that they would have been where they come as the first event', async () => {
      const response = await pair.post('/v1/messages', ask('[[sim:error after=1]]', { stream: true }));
      expect(await errorIn(response)).to.include({
        status: 529,
        type: 'overloaded_error',
        message: 'Overloaded',
      });
      pair.gateway.services.slots.resume('a');
    });
  });

  describe('after the stream began', () => {
    for (const [name, scenario, message] of [
      ['an error event', 'error after=8 message="No more."', 'No more.'],
      ['a cut', 'cut after=8', 'The upstream ended its answer before it was complete.'],
      ['an end without message_stop', 'end after=8', 'The upstream ended its answer before it was complete.'],
    ] as const) {
      it(`end Messages with one error event, for ${name}`, async () => {
        const events = await streamed('messages', scenario);
        const types = events.map((event) => (event as { type: string }).type);
        expect(types.filter((type) => type === 'error')).to.have.length(1);
        expect(types.at(-1)).to.equal('error');
        expect(types).not.to.include('message_stop');
        expect(Object.keys(events.at(-1) as object)).to.deep.equal(['type', 'error']);
        expect(events.at(-1)).to.have.nested.property('error.message', message);
      });

      for (const format of ['chat', 'completions'] as const) {
        it(`end ${format} with one error object and no [DONE], for ${name}`, async () => {
          const events = await streamed(format, scenario);
          expect(events).not.to.include('[DONE]');
          expect(events.slice(0, -1).some((event) => 'error' in (event as object))).to.equal(false);
          const { error } = events.at(-1) as { error: object };
          expect(error).to.have.keys('type', 'code', 'message', 'param');
          expect(error).to.include({ message });
        });
      }

      it(`end Responses with response.failed, for ${name}`, async () => {
        const events = await streamed('responses', scenario);
        const types = events.map((event) => (event as { type: string }).type);
        expect(types.at(-1)).to.equal('response.failed');
        expect(types).not.to.include('response.completed');
        expect(events.at(-1)).to.have.nested.property('response.status', 'failed');
        expect(events.at(-1)).to.have.nested.property('response.error.message', message);
      });
    }

    async function streamed(format: keyof typeof paths, scenario: string): Promise<readonly unknown[]> {
      const calls = callsTo(pair.simulator).length;
      const body = inFormat(format, `[[sim:tokens n=20]][[sim:${scenario}]][[sim:slow ms=1]]`, {
        stream: true,
      });
      const response = await pair.post(paths[format], body);
      expect(response.status).to.equal(200);
      const events = eventsIn(await response.text());
      expect(callsTo(pair.simulator).length - calls, 'calls').to.equal(1); // it is not replayed
      pair.gateway.services.slots.resume('a');
      return events;
    }

    it('count from the first thinking on', async () => {
      const { promise: seen, resolve: onSeen } = later();
      const upstream = await scripted(async (_, response, { start, thinking, stop }) => {
        response.writeHead(200, eventStream).write(start + thinking('Hm.'));
        await seen;
        response.end(stop);
      });
      const under = await startGateway({ slots: [slotAt(upstream.url)] });
      const response = await under.post('/v1/messages', ask('Hello!', { stream: true }));
      expect(response.status).to.equal(200);
      onSeen();
      const events = eventsIn(await response.text());
      await under.close();
      await upstream.close();
      expect(events.at(-1)).to.have.nested.property('error.type', 'upstream_error');
      expect(events).not.to.deep.include({ type: 'message_stop' });
    });
  });

  describe('are not', () => {
    const turns: readonly (readonly [string, string, string])[] = [
      ['a refusal', '[[sim:refusal]]', 'refusal'],
      ['an empty end_turn', '[[sim:empty-turn]]', 'end_turn'],
      ['a pause_turn', '[[sim:pause]]', 'pause_turn'],
    ];
    for (const [what, text, reason] of turns) {
      it(`${what}: there is a stop reason`, async () => {
        const response = await pair.post('/v1/messages', ask(text));
        expect(response.status).to.equal(200);
        expect(await response.json()).to.have.property('stop_reason', reason);
        const stream = await pair.post('/v1/messages', ask(text, { stream: true }));
        expect(eventsIn(await stream.text()).at(-1)).to.deep.equal({ type: 'message_stop' });
      });
    }

    it('max_tokens inside a tool call', async () => {
      const properties = { note: { type: 'string', minLength: 400 } };
      const tools = [{ name: 'write', input_schema: { type: 'object', properties, required: ['note'] } }];
      const response = await pair.post('/v1/messages', ask('[[sim:tool]]', { max_tokens: 12, tools }));
      expect(response.status).to.equal(200);
      const message = (await response.json()) as {
        stop_reason: string;
        content: readonly { type: string }[];
      };
      expect(message.stop_reason).to.equal('max_tokens');
      expect(message.content.at(-1)).to.have.property('type', 'tool_use');
    });
  });

  it('answer HEAD without a body', async () => {
    const { status, text } = await raw(`${pair.url}/v1/nothing`, { method: 'HEAD' });
    expect({ status, text }).to.deep.equal({ status: 404, text: '' });
  });
});

describe('a 503', () => {
  const retryAfter = (response: Response) => [response.status, response.headers.get('retry-after')];

  it('of ours says when to come again', async () => {
    const pair = await startPair();
    pair.gateway.services.slots.pause('a');
    expect(retryAfter(await pair.post('/v1/messages', ask('Hello!')))).to.deep.equal([503, '1']);
    expect(retryAfter(await pair.get('/health?ready=1'))).to.deep.equal([503, '1']);
    await pair.close();
  });

  it('of a stage says so too, unless it says another time', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'gw-'));
    const file = path.join(folder, 'busy.mjs');
    const code = `export default () => (ctx) => {
      if (ctx.get('x-wait')) ctx.set('retry-after', ctx.get('x-wait'));
      ctx.throw(503, 'busy', { expose: true });
    };`;
    await writeFile(file, code);
    const pair = await startPair({ pipeline: [{ use: file }, ...stages()] });
    expect(retryAfter(await pair.get('/v1/models'))).to.deep.equal([503, '1']);
    expect(retryAfter(await pair.get('/v1/models', { 'x-wait': '7' }))).to.deep.equal([503, '7']);
    await pair.close();
    await rm(folder, { recursive: true });
  });

  it('of an upstream stays as it came', async () => {
    const upstream = await scripted((_, response) => {
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end('{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}');
    });
    const under = await startGateway({ slots: [slotAt(upstream.url)] });
    expect(retryAfter(await under.post('/v1/messages', ask('Hello!')))).to.deep.equal([503, null]);
    await under.close();
    await upstream.close();
  });
});
