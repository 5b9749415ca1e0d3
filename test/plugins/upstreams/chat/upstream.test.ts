import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { foldMessage, isGatewayError, type GatewayError } from '@gw2api/gateway/plugin';
import {
  ManualClock,
  upstreamChecks,
  type PlayedScenario,
  type UpstreamScenario,
} from '@gw2api/gateway/testing';
import chat from '#plugins/upstreams/chat/index.js';
import { collect, eventStream, Kit, later, rejection, turn } from '../../../engine/transport/upstream-kit.js';
import { keyedCall, openChat, serveChat, sseOf, type Asked, type OpenOptions } from './server.js';
import { chunk, counts } from './stream/answers.js';

const usage = { prompt_tokens: 3, completion_tokens: 2 };
const hello = [chunk({ content: 'Hél' }), chunk({ content: 'lo 👋' }), chunk({}, 'stop'), counts(usage)];
const whole = sseOf(...hello, '[DONE]');

describe('the upstream chat', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  async function asked(path: string, options: OpenOptions = {}): Promise<Asked> {
    const { promise, resolve } = later<Asked>();
    const url = await serveChat(kit, (response, request) => {
      resolve(request);
      response.writeHead(200, eventStream).end(whole);
    });
    const upstream = await openChat(kit, `${url}${path}`, options);
    await collect((await upstream.generate(keyedCall({ headers: { 'anthropic-version': '1' } }))).events);
    return promise;
  }

  it('posts to the path below the base URL, as an OpenAI SDK does, with the key as Bearer', async () => {
    const { url, headers, body } = await asked('/v1');
    expect(url).to.equal('/v1/chat/completions');
    expect(headers).to.include({ authorization: 'secret', 'content-type': 'application/json' });
    expect(headers).to.not.have.property('anthropic-version');
    expect(body).to.deep.include({ model: 'm', stream: true, stream_options: { include_usage: true } });
  });

  it('posts to Azure with its version and its header', async () => {
    const azure = { preset: 'azure-openai', apiVersion: '2024-10-21' };
    const { url, headers } = await asked('/openai/deployments/mine', { with: azure });
    expect(url).to.equal('/openai/deployments/mine/chat/completions?api-version=2024-10-21');
    expect(headers).to.include({ 'api-key': 'secret' });
  });

  async function answerOf(text: string | Buffer, headers: Record<string, string> = eventStream) {
    const url = await serveChat(kit, (response) => response.writeHead(200, headers).end(text));
    const { events } = await (await openChat(kit, url)).generate(keyedCall());
    return foldMessage(events);
  }

  it('answers with the events of the chunks', async () => {
    const { content, usage: used } = await answerOf(whole);
    expect(content).to.deep.equal([{ type: 'text', text: 'Héllo 👋' }]);
    expect(used).to.deep.include({ input_tokens: 3, output_tokens: 2 });
  });

  for (const [name, text] of Object.entries({
    'line ends of CRLF': whole.replaceAll('\n', '\r\n'),
    'line ends of CR': whole.replaceAll('\n', '\r'),
    'a byte order mark': `\uFEFF${whole}`,
    'comments that keep it alive': `: PROCESSING\n\n${whole.replaceAll('data:', ': PROCESSING\n\ndata:')}`,
    'events without data': whole.replaceAll('data:', 'data:\n\nevent: ping\ndata:\n\ndata:'),
    'no space after the colon': whole.replaceAll('data: ', 'data:'),
    'data in several lines': whole.replaceAll('"choices":', '\ndata: "choices":'),
    'no empty line at its end': whole.slice(0, -1),
  }))
    it(`reads a stream with ${name}`, async () => {
      expect((await answerOf(text)).content).to.deep.equal([{ type: 'text', text: 'Héllo 👋' }]);
    });

  it('reads a stream in any split of its bytes', async () => {
    const bytes = Buffer.from(whole.replaceAll('\n', '\r\n'));
    for (let at = 1; at < bytes.length; at += 7) {
      const url = await serveChat(kit, (response) => {
        response.writeHead(200, eventStream).write(bytes.subarray(0, at), () => {
          setImmediate(() => response.end(bytes.subarray(at)));
        });
      });
      const { events } = await (await openChat(kit, url)).generate(keyedCall());
      expect((await foldMessage(events)).content, `split at ${at}`).to.deep.equal([
        { type: 'text', text: 'Héllo 👋' },
      ]);
    }
  });

  it('reads the whole answer of a server that ignores `stream`', async () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'add', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'add', arguments: '{}' } },
      ],
    };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const json = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: 'm', choices, usage });
    const answer = await answerOf(json, { 'content-type': 'application/json' });
    expect(answer.content.map(({ type }) => type)).to.deep.equal([
      'thinking',
      'text',
      'tool_use',
      'tool_use',
    ]);
    expect(answer).to.deep.include({ stop_reason: 'tool_use' });
    expect(answer.usage).to.deep.include({ input_tokens: 3, output_tokens: 2 });
  });

  describe('where the server does not end its answer', () => {
    async function unended(...chunks: readonly (object | string)[]) {
      const clock = new ManualClock();
      const { promise, resolve } = later<ServerResponse>();
      const url = await serveChat(kit, (response) => {
        response.writeHead(200, eventStream).write(sseOf(...chunks));
        resolve(response);
      });
      const { events } = await (await openChat(kit, url, { clock })).generate(keyedCall());
      return { clock, events, response: await promise };
    }

    it('is complete with its counts', async () => {
      const { events } = await unended(...hello);
      expect((await foldMessage(events)).stop_reason).to.equal('end_turn');
    });

    it('is complete two seconds after its finish reason', async () => {
      const { clock, events } = await unended(chunk({ content: 'Hi' }), chunk({}, 'stop'));
      const iterator = events[Symbol.asyncIterator]();
      await iterator.next();
      clock.pass(2000);
      const types: string[] = [];
      for await (const batch of iterator) types.push(...batch.map(({ type }) => type));
      expect(types).to.deep.equal(['content_block_stop', 'message_delta', 'message_stop']);
    });

    it('is complete if the connection breaks after its finish reason', async () => {
      const { events, response } = await unended(chunk({ content: 'Hi' }, 'stop'));
      const folded = foldMessage(events);
      response.destroy();
      expect((await folded).stop_reason).to.equal('end_turn');
    });

    it('waits as long as there is no finish reason', async () => {
      const { clock, events, response } = await unended(chunk({ content: 'Hi' }));
      const iterator = events[Symbol.asyncIterator]();
      await iterator.next();
      clock.pass(4000);
      response.end(sseOf(chunk({ content: ' there' }, 'stop')));
      const { value } = await iterator.next();
      expect(value?.map(({ type }) => type)).to.include('content_block_delta');
    });
  });

  it('uses a connection again after [DONE]', async () => {
    const sockets = new Set<unknown>();
    const url = await serveChat(kit, (response) => {
      sockets.add(response.socket);
      response.writeHead(200, eventStream).end(whole);
    });
    const upstream = await openChat(kit, url);
    for (let at = 0; at < 3; at += 1) {
      await foldMessage((await upstream.generate(keyedCall())).events);
      await turn();
    }
    expect(sockets.size).to.equal(1);
  });

  async function failed(
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<GatewayError> {
    const url = await serveChat(kit, (response) => {
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    const error = await rejection((await openChat(kit, url)).generate(keyedCall()));
    if (!isGatewayError(error)) throw error;
    return error;
  }

  describe('throws a refusal', () => {
    const bodies: Readonly<Record<string, unknown>> = {
      OpenAI: { error: { message: 'No.', type: 'invalid_request_error', code: null, param: 'x' } },
      'Ollama, old': { error: 'No.' },
      FastAPI: { detail: 'No.' },
      Mistral: { object: 'error', message: 'No.', type: 'invalid_model', code: 1500 },
      Gemini: [{ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }],
    };
    for (const [server, body] of Object.entries(bodies))
      it(`in the form of ${server}`, async () => {
        const error = await failed(400, body);
        expect(error).to.deep.include({ message: 'No.', status: 400, type: 'invalid_request_error' });
        expect(error.failure).to.deep.include({ kind: 'status', status: 400 });
      });

    it('that lists wrong fields', async () => {
      const detail = [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }];
      expect((await failed(422, { detail })).message).to.equal(
        'body.stream_options: Extra inputs are not permitted',
      );
    });

    it('with what the provider behind a router says', async () => {
      const error = { message: 'Provider returned error', code: 429, metadata: { raw: 'slow down' } };
      expect((await failed(429, { error })).message).to.equal('Provider returned error: slow down');
    });

    it('that is a page, by its title', async () => {
      const { message } = await failed(502, '<html><title>Bad Gateway</title></html>');
      expect(message).to.equal('The upstream answered 502: Bad Gateway.');
    });

    for (const [server, error] of Object.entries({
      OpenAI: { code: 'context_length_exceeded', type: 'invalid_request_error', message: 'Too long.' },
      vLLM: { code: 400, type: 'BadRequestError', message: "This model's maximum context length is 10." },
      'llama.cpp': { code: 400, type: 'exceed_context_size_error', message: 'the request is too large' },
    }))
      it(`with one code where the prompt is too long for ${server}`, async () => {
        expect(await failed(400, { error })).to.deep.include({
          code: 'context_length_exceeded',
          status: 400,
        });
      });

    it('of a content filter with its code', async () => {
      const error = { code: 'content_filter', message: 'Filtered.', type: null };
      expect(await failed(400, { error })).to.deep.include({ code: 'content_filter', status: 400 });
    });

    it('with the headers of limits, and the time they say', async () => {
      const limits = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m0.5s' };
      const error = await failed(429, { error: { message: 'Slow.', type: 'tokens' } }, limits);
      expect(error).to.deep.include({ status: 429, type: 'rate_limit_error' });
      expect(error.headers).to.deep.equal({ ...limits, 'retry-after': '61' });
      expect(error.failure).to.have.nested.property('headers.retry-after', '61');
    });

    it('that cools an account without credit for an hour', async () => {
      const error = { message: 'You exceeded your quota.', code: 'insufficient_quota' };
      const refused = await failed(429, { error });
      expect(refused.failure).to.have.nested.property('headers.retry-after', '3600');
      expect(refused.headers).to.not.have.property('retry-after');
    });

    it('with the time that the server says', async () => {
      const refused = await failed(
        429,
        { error: { code: 'insufficient_quota', message: 'No.' } },
        { 'retry-after': '7' },
      );
      expect(refused.failure).to.have.nested.property('headers.retry-after', '7');
    });

    it('that stands in a 200', async () => {
      expect(await failed(200, { error: { message: 'No.', code: 429 } })).to.deep.include({ status: 429 });
    });

    it('for an answer that is something else', async () => {
      const { code, failure } = await failed(200, '<html></html>', { 'content-type': 'text/html' });
      expect([code, failure?.kind]).to.deep.equal(['upstream_invalid_response', 'foreign']);
    });
  });

  it('takes an account as accepted where the server has no list of models, and as refused where it says so', async () => {
    let status = 404;
    const url = await serveChat(
      kit,
      (response) => void response.writeHead(status).end('{"detail":"Not Found"}'),
    );
    const { probe } = await openChat(kit, `${url}/v1`);
    const query = { signal: new AbortController().signal, authorize: () => ({}) };
    for (status of [404, 405, 501]) await probe!(query);
    for (status of [401, 403, 500])
      expect(await rejection(probe!(query)), String(status)).to.have.property('status', status);
  });

  it('lists the models with their limits', async () => {
    const data = [
      { id: 'one', object: 'model' },
      { id: 'two', max_model_len: 8192 },
      { id: 'three', context_length: 1000, top_provider: { max_completion_tokens: 50 } },
      { id: 7 },
      null,
    ];
    const url = await serveChat(kit, (response, { url: path, headers }) => {
      const isKnown = path === '/v1/models' && headers.authorization === 'secret';
      response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ object: 'list', data }));
    });
    const upstream = await openChat(kit, `${url}/v1`);
    const { authorize, signal } = keyedCall();
    const query = { authorize, signal: signal as AbortSignal };
    expect(await upstream.models!(query)).to.deep.equal([
      { id: 'one' },
      { id: 'two', contextWindow: 8192 },
      { id: 'three', maxTokens: 50, contextWindow: 1000 },
    ]);
    const steps = await upstream.diagnose(query);
    expect(steps.map(({ step, ok }) => [step, ok])).to.deep.include(['credential', true]);
  });
});

describe('the upstream chat, by the conformance suite,', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  const scenarios: Readonly<Record<UpstreamScenario, (to: ServerResponse, block: () => void) => unknown>> = {
    answer: (to) => to.writeHead(200, eventStream).end(whole),
    refusal: (to) => to.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"Slow down."}}'),
    cut: (to) => to.writeHead(200, eventStream).write(sseOf(chunk({ content: 'Hi' })), () => to.destroy()),
    async endless(to, block) {
      to.setMaxListeners(0);
      to.writeHead(200, eventStream);
      const text = sseOf(chunk({ content: 'x'.repeat(10_000) }));
      while (!to.destroyed) {
        if (to.write(text)) continue;
        const drained = once(to, 'drain').catch(() => undefined);
        const wait = setTimeout(block, 500);
        await Promise.race([drained, once(to, 'close')]);
        clearTimeout(wait);
      }
    },
  };
  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => {
    const blocked = later();
    const closed = later();
    const baseUrl = await serveChat(kit, (response) => {
      response.once('close', () => closed.resolve());
      return scenarios[scenario](response, () => blocked.resolve());
    });
    return { baseUrl, blocked: blocked.promise, closed: closed.promise };
  };
  for (const { name, run } of upstreamChecks({ kind: chat, play })) it(name, run);
});
