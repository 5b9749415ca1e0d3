import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ContentBlock, Tool } from '@gw2api/gateway/plugin';
import { stringify } from 'yaml';
import { ask, eventsIn, masterKey, slotAt, startGateway, startPair, type Pair } from '../harness.js';
import { lastRequest, modelCalls } from './sdk-clients.js';

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly ToolCall[] };
    readonly finish_reason: string | null;
  }[];
}

interface ToolCall {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments: string };
  readonly custom?: { readonly name?: string; readonly input: string };
}

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'get_weather', parameters } };

describe('other clients', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  async function chunksOf(body: object): Promise<readonly Chunk[]> {
    const response = await pair.post('/v1/chat/completions', { ...body, stream: true });
    expect(response.status).to.equal(200);
    const chunks = eventsIn(await response.text());
    expect(chunks.at(-1)).to.equal('[DONE]');
    return chunks.slice(0, -1) as Chunk[]; // so the format says
  }

  async function answerOf(
    body: object,
  ): Promise<{ dropped: string | null; message: Record<string, unknown> }> {
    const response = await pair.post('/v1/chat/completions', body);
    expect(response.status).to.equal(200);
    const { choices } = (await response.json()) as { choices: { message: Record<string, unknown> }[] };
    return { dropped: response.headers.get('x-gw-dropped'), message: choices[0]!.message };
  }

  describe('Copilot CLI', () => {
    const patch = {
      type: 'custom',
      custom: { name: 'apply_patch', description: 'V4A.', format: { type: 'text' } },
    };
    const body = {
      model: 'sonnet-5',
      messages: [
        {
          role: 'system',
          content: 'You are a terminal assistant.',
          copilot_cache_control: { type: 'ephemeral' },
        },
        { role: 'user', content: 'Use apply_patch.' },
      ],
      tools: [weather, patch],
      tool_choice: 'auto',
      temperature: 0.1,
      top_p: 1,
      n: 1,
      stream_options: { include_usage: true },
    };

    it('gets its custom tools called, each call under one index and with its name once', async () => {
      const calls = (await chunksOf(body)).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      expect(new Set(calls.map(({ index }) => index))).to.have.property('size', 1);
      expect(calls.filter(({ id }) => id !== undefined)).to.have.length(1);
      expect(calls[0]).to.include({ type: 'custom' });
      expect(calls[0]?.custom?.name).to.equal('apply_patch');
      expect(calls.slice(1).map(({ custom }) => custom?.name)).to.satisfy((names: unknown[]) =>
        names.every((name) => name === undefined),
      );
    });

    it('never gets half a surrogate pair in a delta, nor in one write', async () => {
      const response = await pair.post('/v1/chat/completions', {
        ...body,
        stream: true,
        messages: [{ role: 'user', content: '[[sim:surrogates]] [[sim:bytes]]' }],
      });
      const text = await response.text();
      expect(text).not.to.match(/\\ud[89a-f]/i);
      expect(text).not.to.include('\ufffd');
      expect(text).to.include('🌍');
    });

    it('has its mixed history taken, its results in the order of its calls', async () => {
      const { message } = await answerOf({
        ...body,
        messages: [
          ...body.messages,
          {
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin Patch' } },
              { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_2', content: 'rain' },
          { role: 'tool', tool_call_id: 'call_1', content: 'patched' },
        ],
      });
      expect(message['content']).to.include('The tool answered: patched');
      const [, asked, answered] = lastRequest(pair).messages;
      expect(asked?.content).to.deep.equal([
        { type: 'tool_use', id: 'call_1', name: 'apply_patch', input: { input: '*** Begin Patch' } },
        { type: 'tool_use', id: 'call_2', name: 'get_weather', input: {} },
      ]);
      expect(answered?.content).to.have.nested.property('[0].content', 'patched');
      expect(answered?.content).to.have.nested.property('[1].content', 'rain');
    });
  });

  describe('LangChain and LlamaIndex', () => {
    const messages = [{ role: 'user', content: 'Hello!' }];

    it('send temperature and top_p and no max_tokens, and get the most that the model has', async () => {
      const { dropped } = await answerOf({
        model: 'sonnet-5',
        messages,
        temperature: 0.7,
        top_p: 1,
        n: 1,
        stream: false,
      });
      expect(dropped).to.equal(null);
      expect(lastRequest(pair)).to.include({ temperature: 0.7, max_tokens: 128_000 });
      await answerOf({ model: 'haiku-5', messages, temperature: 0.7, top_p: 1 });
      expect(lastRequest(pair)).to.include({ max_tokens: 64_000 });
    });

    it('are told where a temperature was above what the upstream takes', async () => {
      const { dropped } = await answerOf({ model: 'sonnet-5', messages, temperature: 1.4 });
      expect(dropped).to.equal('temperature');
      expect(lastRequest(pair).temperature).to.equal(1);
    });

    it('may send nulls for everything that they do not say', async () => {
      const { dropped } = await answerOf({
        model: 'sonnet-5',
        messages,
        temperature: null,
        top_p: null,
        max_tokens: null,
        stop: null,
        tools: null,
        tool_choice: null,
        response_format: null,
        user: null,
        stream: null,
        n: null,
        seed: null,
        logit_bias: null,
      });
      expect(dropped).to.equal(null);
    });

    it('send both temperature and top_p to a model that nobody knows, which takes one of them', async () => {
      const strict = await startPair({}, { models: { 'new-6': { sampling: 'one' } } });
      try {
        const sampling = { model: 'new-6', temperature: 0.7, top_p: 0.9 };
        for (const [path, body] of [
          ['/v1/chat/completions', { messages }],
          ['/v1/responses', { input: 'Hi' }],
          ['/v1/completions', { prompt: 'Hi' }],
        ] as const) {
          const response = await strict.post(path, { ...body, ...sampling, max_tokens: 100 });
          expect(response.status, await response.text()).to.equal(200);
          expect(response.headers.get('x-gw-dropped')).to.include('top_p');
          expect(lastRequest(strict)).to.include({ temperature: 0.7 }).and.not.to.have.property('top_p');
        }
        const untouched = await strict.post('/v1/messages', { messages, ...sampling, max_tokens: 100 });
        expect(await untouched.text()).to.include('cannot both be specified');
      } finally {
        await strict.close();
      }
    });

    it('send sampling to a model that takes none, which is left out and reported', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'gw2api-catalog-'));
      await writeFile(
        join(folder, 'models.yaml'),
        stringify({ models: [{ id: 'set-5', upstreamModel: 'set-5-up', sampling: false }] }),
      );
      const strict = await startPair(
        { models: join(folder, 'models.yaml') },
        { models: { 'set-5-up': { sampling: false } } },
      );
      try {
        const body = { model: 'set-5', messages, temperature: 0.7, top_p: 0.9 };
        const response = await strict.post('/v1/chat/completions', body);
        expect(response.status).to.equal(200);
        expect(response.headers.get('x-gw-dropped')).to.equal('temperature, top_p');
        expect(lastRequest(strict)).to.include({ model: 'set-5-up' });
        expect(lastRequest(strict)).not.to.have.any.keys('temperature', 'top_p');
      } finally {
        await strict.close();
        await rm(folder, { recursive: true });
      }
    });
  });

  describe('the AI SDK', () => {
    it('gets no null citations in a text block of Messages, whole or streamed', async () => {
      for (const stream of [true, false]) {
        const response = await pair.post('/v1/messages', ask('Hello!', { stream }));
        expect(await response.text()).not.to.match(/"citations":\s*null/);
      }
    });

    it('has eager_input_streaming of its tools passed on', async () => {
      const tool: Tool = { name: 'get_weather', input_schema: parameters, eager_input_streaming: true };
      await (await pair.post('/v1/messages', ask('Hello!', { tools: [tool] }))).text();
      expect(lastRequest(pair).tools?.[0]).to.deep.equal(tool);
    });

    it('sends max_completion_tokens and asks for usage in Chat', async () => {
      const chunks = await chunksOf({
        model: 'sonnet-5',
        max_completion_tokens: 500,
        stream_options: { include_usage: true },
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'Hello!' },
        ],
      });
      expect(lastRequest(pair).max_tokens).to.equal(500);
      expect(chunks.at(-1)).to.have.nested.property('usage.total_tokens').that.is.above(0);
    });
  });

  describe('LiteLLM and Aider', () => {
    const marker = { type: 'ephemeral' };

    it('mark what shall be cached in Chat, and the gateway then adds no marker of its own', async () => {
      await answerOf({
        model: 'sonnet-5',
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'Long rules.', cache_control: marker }] },
          { role: 'user', content: [{ type: 'text', text: 'A file.', cache_control: marker }] },
          { role: 'assistant', content: 'I see.' },
          { role: 'user', content: 'Now?' },
        ],
      });
      const { system, messages } = lastRequest(pair);
      const hour = { ...marker, ttl: '1h' };
      expect((system as readonly ContentBlock[]).at(-1)).to.deep.include({ cache_control: hour });
      expect(messages[0]?.content).to.have.deep.nested.property('[0].cache_control', hour);
      expect(JSON.stringify(messages.at(-1))).not.to.include('cache_control');
    });

    it('lower the ttl of all of it by a header', async () => {
      const body = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] };
      await (await pair.post('/v1/chat/completions', body, { 'x-gw-cache-ttl': '5m' })).text();
      expect(lastRequest(pair).messages[0]?.content).to.have.deep.nested.property('[0].cache_control', {
        ...marker,
        ttl: '5m',
      });
    });
  });

  describe('editors', () => {
    it('begin the answer themselves, whatever white space they end with', async () => {
      const { message } = await answerOf({
        model: 'sonnet-5',
        messages: [
          { role: 'user', content: 'Write a function.' },
          { role: 'assistant', content: 'Sure:\n\n```ts\n' },
        ],
      });
      expect(message['content']).to.be.a('string').that.is.not.equal('');
      expect(lastRequest(pair).messages.at(-1)).to.have.nested.property('content[0].text', 'Sure:\n\n```ts');
    });
  });

  describe('curl and its like', () => {
    it('send both key headers, of which x-api-key wins', async () => {
      const body = ask('Hello!');
      const right = { 'x-api-key': masterKey, authorization: 'Bearer wrong' };
      const wrong = { 'x-api-key': 'wrong', authorization: `Bearer ${masterKey}` };
      expect((await pair.post('/v1/messages', body, right)).status).to.equal(200);
      expect((await pair.post('/v1/messages', body, wrong)).status).to.equal(401);
    });

    for (const name of ['api-key', 'x-goog-api-key'])
      it(`send their key as ${name}, which no upstream sees`, async () => {
        const headers = { [name]: masterKey, authorization: '' };
        expect((await pair.post('/v1/chat/completions', ask('Hello!'), headers)).status).to.equal(200);
        expect(JSON.stringify(modelCalls(pair).at(-1)?.headers)).to.not.include(masterKey);
        const wrong = { ...headers, 'x-api-key': 'wrong' };
        expect((await pair.post('/v1/chat/completions', ask('Hello!'), wrong)).status).to.equal(401);
      });

    it('name no API version, and get the older one', async () => {
      await (await pair.post('/v1/messages', ask('Hello!'))).text();
      expect(modelCalls(pair).at(-1)?.headers).to.include({ 'anthropic-version': '2023-06-01' });
    });

    it('leave in the middle of a stream, and the upstream is told', async () => {
      const arrived = pair.simulator.nextRequest(({ path }) => path === '/v1/messages');
      const controller = new AbortController();
      const response = await fetch(`${pair.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
        body: JSON.stringify({
          model: 'sonnet-5',
          stream: true,
          messages: [{ role: 'user', content: '[[sim:stall after=4]]' }],
        }),
        signal: controller.signal,
      });
      await response.body?.getReader().read();
      controller.abort();
      expect(await (await arrived).closed).to.equal('aborted');
    });
  });

  it('are told when to come back where the window of the only account is used up', async () => {
    const limited = await startGateway({ slots: [slotAt(pair.simulator.url)] });
    try {
      const text = 'Hello! [[sim:window-exhausted in=1800 times=1]]';
      const first = await limited.post('/v1/messages', ask(text));
      expect(first.status).to.equal(429);
      const again = await limited.post('/v1/messages', ask('Hello!'));
      expect(again.status).to.equal(429);
      expect(Number(again.headers.get('retry-after'))).to.be.within(1700, 1801);
    } finally {
      await limited.close();
    }
  });
});
