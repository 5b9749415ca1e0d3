import { existsSync, readFileSync, readdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect } from 'chai';
import { answerHeaders, foldMessage, isGatewayError } from '#src/plugin/index.js';
import type { SlotSettings } from '#src/plugin/upstream/index.js';
import { sealReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import {
  Kit,
  type Listener,
  aCall,
  answer,
  collect,
  eventStream,
  later,
  openMessages,
  rejection,
} from '../../../engine/transport/upstream-kit.js';

const shared = join(process.cwd(), '../shared/fixtures');

const whole = answer.start + answer.delta('Hello') + answer.stop;

const good: Listener = (request, response) => {
  request.resume();
  response.writeHead(200, { ...eventStream, 'request-id': 'req_1', 'x-two': ['a', 'b'] }).end(whole);
};

describe('messages upstream', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  /** What the upstream saw of one call. */
  async function seen(
    path: string,
    settings: Partial<SlotSettings> = {},
    overrides: Parameters<typeof aCall>[0] = {},
  ): Promise<{ request: IncomingMessage; body: string }> {
    const { promise, resolve } = later<{ request: IncomingMessage; body: string }>();
    const url = await kit.serve(async (request, response) => {
      resolve({ request, body: await text(request) });
      response.writeHead(200, eventStream).end(whole);
    });
    const upstream = await kit.open(`${url}${path}`, settings);
    await collect((await upstream.generate(aCall(overrides))).events);
    return promise;
  }

  /** What a call is rejected with. */
  async function failure(listener: Listener): Promise<unknown> {
    const upstream = await kit.open(await kit.serve(listener));
    return rejection(upstream.generate(aCall()));
  }

  async function refusal(status: number, headers: Record<string, string>, body: string): Promise<unknown> {
    return failure((_, response) => response.writeHead(status, headers).end(body));
  }

  it('answers with status, headers and events', async () => {
    const upstream = await kit.open(await kit.serve(good));
    const reply = await upstream.generate(aCall());
    expect(reply.status).to.equal(200);
    expect(reply.headers).to.include({ 'request-id': 'req_1', 'x-two': 'a, b' });
    const { events, error } = await collect(reply.events);
    expect(error).to.equal(undefined);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_stop',
    ]);
  });

  it('posts no thinking that another kind of upstream has sealed for itself', async () => {
    const sealed = {
      type: 'thinking',
      thinking: 'Hm.',
      signature: sealReasoning({ vendor: 'deepseek' }),
    } as const;
    const content = [sealed, { type: 'text', text: 'Hello' } as const];
    const request = { model: 'm', messages: [{ role: 'assistant', content } as const] };
    const { body } = await seen('', {}, { request });
    expect(JSON.parse(body)).to.deep.equal({
      model: 'm',
      messages: [{ role: 'assistant', content: content.slice(1) }],
    });
  });

  it('posts an object for the input of a call that was cut, and reports it', async () => {
    const use = (input: unknown) => ({ type: 'tool_use', id: 'a', name: 'f', input }) as const;
    const calling = (input: unknown) => ({ role: 'assistant', content: [use(input)] }) as const;
    const request = { model: 'm', messages: [calling('{"a":1,"b":"x')] };
    const { body } = await seen('', {}, { request });
    expect(JSON.parse(body)).to.deep.equal({ model: 'm', messages: [calling({ a: 1 })] });
    const upstream = await kit.open(await kit.serve(good));
    const reported: unknown[] = [];
    await upstream.generate(aCall({ request, report: (losses) => reported.push(...losses) }));
    expect(reported).to.deep.equal([{ path: 'messages[0].content[0].input', kind: 'content' }]);
  });

  it('posts the request as it is given to the path below the base URL, with the caller\u2019s query', async () => {
    const { request, body } = await seen('', {}, { search: '?beta=true' });
    expect(request.method).to.equal('POST');
    expect(request.url).to.equal('/v1/messages?beta=true');
    expect(JSON.parse(body)).to.deep.equal(aCall().request);
    expect((await seen('/api')).request.url).to.equal('/api/v1/messages');
    expect((await seen('/api/v1')).request.url).to.equal('/api/v1/messages');
    expect((await seen('/v1/')).request.url).to.equal('/v1/messages');
  });

  it('sends the caller\u2019s headers below the slot\u2019s, and those below the credential', async () => {
    const { request } = await seen(
      '',
      { headers: { 'X-Extra': 'slot', 'anthropic-beta': 'slot', 'x-api-key': 'slot' } },
      {
        headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'caller' },
        credential: { 'x-api-key': 'secret' },
      },
    );
    expect(request.headers).to.include({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'slot',
      'x-extra': 'slot',
      'x-api-key': 'secret',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
    expect(request.headers['user-agent']).to.match(/^gw2api\/\d/);
  });

  it('waits for the answer behind informational ones', async () => {
    const upstream = await kit.open(
      await kit.serve((_, response) => {
        response.writeProcessing();
        response.writeEarlyHints({ link: '</a>; rel=preload' });
        response.writeHead(200, eventStream).end(whole);
      }),
    );
    expect((await collect((await upstream.generate(aCall())).events)).events).to.have.length(5);
  });

  it('does not blame the upstream for a call that cannot be sent', async () => {
    const upstream = await kit.open(await kit.serve(good));
    const error = await rejection(upstream.generate(aCall({ headers: { 'anthropic-beta': 'a\nb' } })));
    expect(isGatewayError(error)).to.equal(false);
    expect(error).to.be.an('error').with.property('message').that.contains('anthropic-beta');
  });

  it('blames the slot for a header of its own that HTTP does not take, and sends nothing', async () => {
    let requests = 0;
    const url = await kit.serve((_, response) => response.end(String((requests += 1))));
    for (const headers of [
      { 'x-a': 'a\nb' },
      { 'x a': 'b' },
      { Expect: '100-continue' },
      { 'x-a': '\u4e16' },
    ]) {
      const error = await rejection((await kit.open(url, { headers })).generate(aCall()));
      expect(error).to.deep.include({ failure: { kind: 'unreachable', reused: false } });
      expect(error)
        .to.have.property('message')
        .that.matches(/^Slot "team-a" adds a header/);
    }
    expect(requests).to.equal(0);
  });

  it('says which slot has no baseUrl', async () => {
    const upstream = await openMessages({});
    expect(await rejection(upstream.generate(aCall())))
      .to.have.property('message')
      .that.matches(/^Slot "team-a" has no baseUrl/);
  });

  it('never sends a call whose signal has aborted', async () => {
    let requests = 0;
    const upstream = await kit.open(await kit.serve((_, response) => response.end(String((requests += 1)))));
    const reason = new Error('gone');
    expect(await rejection(upstream.generate(aCall({ signal: AbortSignal.abort(reason) })))).to.equal(reason);
    expect(await rejection(upstream.countTokens(aCall({ signal: AbortSignal.abort(reason) })))).to.equal(
      reason,
    );
    expect(requests).to.equal(0);
  });

  describe('given something else than a stream', () => {
    const foreign: readonly [string, Listener][] = [
      ['a page', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
      ['a text', (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('Welcome.')],
      [
        'two content types',
        (_, response) =>
          response.writeHead(200, { 'content-type': ['text/event-stream', 'text/html'] }).end(whole),
      ],
      ['a redirect', (_, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
      ['no content', (_, response) => response.writeHead(204).end()],
      [
        'other JSON',
        (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
      ],
      [
        'an encoding of its own',
        (_, response) => response.writeHead(200, { ...eventStream, 'content-encoding': 'zip' }).end('x'),
      ],
    ];
    for (const [what, listener] of foreign) {
      it(`takes ${what} for foreign`, async () => {
        const error = await failure(listener);
        expect(error).to.deep.include({
          status: 502,
          code: 'upstream_invalid_response',
          failure: { kind: 'foreign' },
        });
      });
    }

    it('reads a stream whose content type came twice', async () => {
      const twice = ['text/event-stream', 'text/event-stream; charset=utf-8'];
      const url = await kit.serve((_, response) =>
        response.writeHead(200, { 'content-type': twice }).end(whole),
      );
      const { events } = await collect((await (await kit.open(url)).generate(aCall())).events);
      expect(events.at(-1)?.type).to.equal('message_stop');
    });

    it('takes what is not HTTP for foreign', async () => {
      const url = await kit.serveSockets((socket) => socket.end('SSH-2.0-x\r\n'));
      const error = await rejection((await kit.open(url)).generate(aCall()));
      expect(error).to.deep.include({ code: 'upstream_invalid_response', failure: { kind: 'foreign' } });
    });

    it('takes headers that never end for foreign', async () => {
      const url = await kit.serveSockets((socket) => {
        const write = (): void =>
          void socket.write(`x-more: ${'x'.repeat(4096)}\r\n`, (failed) => failed || write());
        socket.write('HTTP/1.1 200 OK\r\n', write);
      });
      const error = await rejection((await kit.open(url)).generate(aCall()));
      expect(error).to.deep.include({ code: 'upstream_invalid_response', failure: { kind: 'foreign' } });
    });

    it('turns a whole message of a service that passed over stream: true into its events', async function () {
      if (!existsSync(shared)) this.skip();
      const folder = join(shared, 'messages-responses');
      for (const name of readdirSync(folder).filter((file) => file !== 'count-tokens.json')) {
        const body = readFileSync(join(folder, name), 'utf8');
        const url = await kit.serve((_, response) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(body),
        );
        const reply = await (await kit.open(url)).generate(aCall());
        expect(await foldMessage(reply.events), name).to.deep.equal(JSON.parse(body));
      }
    });

    it('says what broke a whole message off', async () => {
      const error = await failure((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 });
        response.write('{"type":"message"', () => response.destroy());
      });
      expect(error).to.deep.include({ code: 'upstream_interrupted', failure: { kind: 'interrupted' } });
    });
  });

  describe('given an error', () => {
    const json = { 'content-type': 'application/json' };

    const expected: Readonly<Record<string, { type: string; code: string }>> = {
      'anthropic-400-prompt-too-long': { type: 'invalid_request_error', code: 'invalid_request_error' },
      'anthropic-401-invalid-key': { type: 'authentication_error', code: 'authentication_error' },
      'anthropic-404-model-not-found': { type: 'not_found_error', code: 'not_found_error' },
      'constructed-anthropic-413-request-too-large': { type: 'request_too_large', code: 'request_too_large' },
      'constructed-anthropic-529-overloaded': { type: 'overloaded_error', code: 'overloaded_error' },
      'constructed-openai-429-tokens': { type: 'tokens', code: 'rate_limit_exceeded' },
      'openai-401-invalid-key': { type: 'invalid_request_error', code: 'invalid_api_key' },
      'azure-429-retry-after': { type: 'rate_limit_error', code: 'RateLimitReached' },
      'openrouter-429-upstream': { type: 'rate_limit_error', code: 'rate_limit_error' },
    };

    it('keeps status, type, code, message and retry headers of every recorded one', async function () {
      if (!existsSync(shared)) this.skip();
      const folder = join(shared, 'errors');
      for (const file of readdirSync(folder)) {
        const recorded = JSON.parse(readFileSync(join(folder, file), 'utf8'));
        const headers = singleValues(recorded.headers);
        const error = await refusal(recorded.status, headers, JSON.stringify(recorded.body));
        if (!isGatewayError(error)) throw error;
        expect(error, file).to.include({ status: recorded.status, message: recorded.body.error.message });
        expect(error, file).to.include(expected[file.replace('.json', '')] ?? {});
        expect(error.headers, file).to.deep.equal(answerHeaders(headers));
        expect(error.details ?? null, file).to.deep.equal(recorded.body.error.details ?? null);
        expect(error.failure, file).to.include({ kind: 'status', status: recorded.status });
        expect(error.failure, file).to.have.property('headers').that.includes(answerHeaders(headers));
      }
    });

    it('keeps details', async () => {
      const details = { error_code: 'thread_not_found' };
      const body = { type: 'error', error: { type: 'invalid_request_error', message: 'No.', details } };
      const error = await refusal(400, json, JSON.stringify(body));
      if (!isGatewayError(error)) throw error;
      expect(error.toJSON().error).to.deep.equal({
        type: 'invalid_request_error',
        code: 'invalid_request_error',
        message: 'No.',
        details,
      });
    });

    it('makes a short text of a page', async () => {
      const page = '<html><head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>';
      const error = await refusal(502, { 'content-type': 'text/html' }, page);
      expect(error).to.include({
        status: 502,
        type: 'upstream_error',
        code: 'upstream_error',
        message: 'The upstream answered 502: 502 Bad Gateway.',
      });
    });

    it('looks at the beginning of a page only, and takes no longer for one of many titles', async () => {
      const error = await refusal(502, { 'content-type': 'text/html' }, '<title'.repeat(200_000));
      expect(error).to.include({ status: 502, message: 'The upstream answered 502.' });
      const late = `${' '.repeat(8192)}<title>Late</title>`;
      expect(await refusal(502, {}, late)).to.include({ message: 'The upstream answered 502.' });
    });

    it('takes a bare text, a bare string and nothing at all', async () => {
      expect(await refusal(503, {}, 'no healthy upstream')).to.include({
        type: 'overloaded_error',
        message: 'The upstream answered 503: no healthy upstream.',
      });
      expect(await refusal(403, json, '{"error":"Not here."}')).to.include({ message: 'Not here.' });
      expect(await refusal(418, {}, '')).to.include({
        status: 418,
        type: 'invalid_request_error',
        message: 'The upstream answered 418.',
      });
    });

    it('does not read a body that never ends', async () => {
      const { promise: closed, resolve } = later();
      const error = await failure((request, response) => {
        request.socket.once('close', () => resolve());
        response.writeHead(500);
        const write = () => void response.write('x'.repeat(1024 * 1024), (failed) => failed || write());
        write();
      });
      expect(error).to.include({ status: 500 });
      await closed;
    });

    it('keeps its status where its body is cut', async () => {
      const url = await kit.serve((_, response) => {
        response.writeHead(429, { 'content-length': 99, 'retry-after': '3' });
        response.write('{"type":', () => response.destroy());
      });
      const error = await rejection((await kit.open(url)).generate(aCall()));
      expect(error).to.deep.include({ status: 429, headers: { 'retry-after': '3' } });
    });
  });
});

function singleValues(headers: Record<string, string | string[]>): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => name !== 'transfer-encoding');
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}
