import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { compileCheck } from '#src/plugin/format/index.js';
import { foldMessage, ModelEvent, type ContentBlock, type Usage } from '#src/plugin/index.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, grammarProblem, parseEvents, post, refusal, saying, stream } from './caller.js';
import { clockAt } from '../../../clock-at.js';

const weather = {
  name: 'weather',
  input_schema: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 3 },
      days: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 }, minItems: 1 },
      unit: { enum: ['C', 'F'] },
    },
    required: ['city', 'days'],
    additionalProperties: false,
  },
};
const webSearch = { type: 'web_search_20250305', name: 'web_search' };
const types = (content: readonly ContentBlock[]): string[] => content.map(({ type }) => type);
const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

function change(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

function marked(text: string, ttl?: string): object {
  return { type: 'text', text, cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } };
}

function turn(...texts: string[]): object {
  return saying('', { messages: [{ role: 'user', content: texts.map((text) => marked(text)) }] });
}

async function usageOf(simulator: Simulator, request: object): Promise<Usage> {
  return (await ask(simulator, request)).usage;
}

async function countTokens(simulator: Simulator, request: object): Promise<number> {
  const { max_tokens: _, ...body } = request as { max_tokens: number };
  const { body: answer } = await post(simulator, body, { path: '/v1/messages/count_tokens' });
  return ((await answer.json()) as { input_tokens: number }).input_tokens;
}

function promptOf({ input_tokens, cache_creation_input_tokens, cache_read_input_tokens }: Usage): number {
  return (input_tokens ?? 0) + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
}

describe('an answer of the simulator', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  it('says that it is made up, and what it was asked', async () => {
    const { content, stop_reason } = await ask(simulator, saying('Hello 🌍'));
    expect(content).to.deep.equal([
      { type: 'text', text: 'This is the gw2api simulator, not a model. You said: Hello 🌍' },
    ]);
    expect(stop_reason).to.equal('end_turn');
  });

  it('is the same for the same request', async () => {
    const request = saying('Hello', { tools: [weather], tool_choice: { type: 'any' } });
    const [one, two] = await Promise.all([stream(simulator, request), stream(simulator, request)]);
    expect(one).to.deep.equal(two);
  });

  it('is the same streamed and whole', async () => {
    for (const request of [
      saying('weather, please', { tools: [weather] }),
      saying('search for it', { tools: [webSearch], thinking: { type: 'adaptive' } }),
      saying('[[sim:refusal]]'),
    ]) {
      const events = await stream(simulator, request);
      const batch = events.map((event) => ModelEvent.of(event));
      const folded = await foldMessage(
        (async function* once() {
          yield batch;
        })(),
      );
      expect(folded).to.deep.equal(await ask(simulator, request));
    }
  });

  it('has one ping after message_start and pads its JSON with spaces', async () => {
    const { body } = await post(simulator, saying('Hello', { stream: true }));
    const text = await body.text();
    expect(
      parseEvents(text)
        .map(({ type }) => type)
        .slice(0, 3),
    ).to.deep.equal(['message_start', 'ping', 'content_block_start']);
    expect(text).to.match(/ +}\n\n/);
    expect(text.split('event: ping')).to.have.length(2);
  });

  it('keeps the grammar of a stream under any mixture of scenarios', async () => {
    const contents = [
      '',
      'tool',
      'parallel n=3',
      'interleave',
      'search',
      'no-args',
      'echo',
      'empty-turn',
      'surrogates',
    ];
    const mixture = fc.record({
      content: fc.constantFrom(...contents),
      extras: fc.subarray(['thinking', 'redacted', 'crlf', 'comments', 'bom', 'done', 'no-event-line']),
      maxTokens: fc.integer({ min: 1, max: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(mixture, async ({ content, extras, maxTokens }) => {
        const markers = [content, ...extras].filter(Boolean).map((name) => `[[sim:${name}]]`);
        const request = saying(`Go. ${markers.join(' ')}`, {
          tools: [weather, webSearch],
          max_tokens: maxTokens,
        });
        expect(grammarProblem(await stream(simulator, request))).to.equal(undefined);
      }),
      { numRuns: 60, seed: 11 },
    );
  });

  it('is held against a grammar that recorded streams keep too', function heldAgainst() {
    const folder = join('..', 'shared', 'fixtures', 'messages-streams');
    if (!existsSync(folder)) this.skip();
    const odd = /^(anomaly|constructed)-|programmatic-tool-calling-resume/; // what wire-notes list as exceptions
    const recorded = readdirSync(folder).filter((name) => !odd.test(name));
    const problems = recorded.map((name) => [
      name,
      grammarProblem(parseEvents(readFileSync(join(folder, name), 'utf8'))),
    ]);
    expect(problems.filter(([, problem]) => problem)).to.deep.equal([]);
  });

  describe('with tools', () => {
    it('calls the forced tool with arguments that fit its schema, in many deltas', async () => {
      const request = saying('Hi', { tools: [weather], tool_choice: { type: 'tool', name: 'weather' } });
      const { content, stop_reason } = await ask(simulator, request);
      expect([types(content), stop_reason]).to.deep.equal([['tool_use'], 'tool_use']);
      expect(compileCheck(weather.input_schema)(content[0]!['input'])).to.deep.equal([]);
      const deltas = (await stream(simulator, request)).flatMap((event) =>
        event.type === 'content_block_delta' && event.delta.type === 'input_json_delta'
          ? event.delta.partial_json
          : [],
      );
      expect(deltas[0]).to.equal('');
      expect(deltas.length).to.be.greaterThan(3);
      expect(JSON.parse(deltas.join(''))).to.deep.equal(content[0]!['input']);
    });

    it('calls a tool of its own accord where it is mentioned, and answers in words after the result', async () => {
      const question = { role: 'user', content: 'What is the weather?' };
      const first = await ask(simulator, saying('', { messages: [question], tools: [weather] }));
      expect(types(first.content)).to.deep.equal(['text', 'tool_use']);
      const result = { type: 'tool_result', tool_use_id: first.content[1]!['id'], content: 'rain' };
      const messages = [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ];
      const second = await ask(simulator, saying('', { messages, tools: [weather] }));
      expect(textOf(second.content)).to.equal(
        'This is the gw2api simulator, not a model. The tool answered: rain',
      );
    });

    it('calls none where the choice is none, and one where parallel calls are off', async () => {
      const none = saying('weather', { tools: [weather], tool_choice: { type: 'none' } });
      expect(types((await ask(simulator, none)).content)).to.deep.equal(['text']);
      const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
      const single = saying('[[sim:parallel n=3]]', { tools: [weather], tool_choice });
      expect(types((await ask(simulator, single)).content)).to.deep.equal(['tool_use']);
    });

    it('cuts a call inside its JSON where max_tokens end, and leaves the block open', async () => {
      const request = saying('Hi', { tools: [weather], tool_choice: { type: 'any' }, max_tokens: 3 });
      const events = await stream(simulator, request);
      expect(events.map(({ type }) => type)).not.to.include('content_block_stop');
      expect(events.at(-2)).to.deep.include({
        delta: { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null },
      });
    });
  });

  describe('with thinking', () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const next = (content: readonly ContentBlock[]): object =>
      saying('', {
        thinking,
        messages: [
          { role: 'user', content: 'One' },
          { role: 'assistant', content },
          { role: 'user', content: 'Two' },
        ],
      });

    it('begins with a thinking block that passes when it comes back as it was', async () => {
      const { content, usage } = await ask(simulator, saying('One', { thinking }));
      expect(types(content)).to.deep.equal(['thinking', 'text']);
      expect(usage.output_tokens_details?.thinking_tokens).to.be.greaterThan(5);
      expect(types((await ask(simulator, next(content))).content)).to.deep.equal(['thinking', 'text']);
    });

    it('refuses a thinking block of its own in which one character of text or signature was changed', async () => {
      const { content } = await ask(simulator, saying('One', { thinking }));
      const [block, ...rest] = content as [
        ContentBlock & { thinking: string; signature: string },
        ContentBlock,
      ];
      for (let at = 0; at < block.signature.length; at += 9) {
        const changed = { ...block, signature: change(block.signature, at) };
        expect(await refusal(simulator, next([changed, ...rest]))).to.include({
          status: 400,
          message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
        });
      }
      for (const at of [0, 10, block.thinking.length - 1]) {
        const changed = { ...block, thinking: change(block.thinking, at) };
        expect((await refusal(simulator, next([changed, ...rest]))).status).to.equal(400);
      }
    });

    it('leaves the text out where it is to be omitted, and the signature still counts', async () => {
      const request = saying('One', { thinking: { ...thinking, display: 'omitted' } });
      const { content } = await ask(simulator, request);
      expect(content[0]).to.include({ type: 'thinking', thinking: '' });
      expect((await post(simulator, next(content))).statusCode).to.equal(200);
    });

    it('takes its redacted thinking and encrypted search results back only as they were', async () => {
      const { content } = await ask(simulator, saying('Do [[sim:redacted]][[sim:search]]'));
      expect(types(content).slice(0, 2)).to.deep.equal(['redacted_thinking', 'text']);
      expect((await post(simulator, next(content))).statusCode).to.equal(200);
      const data = String(content[0]!['data']);
      const redacted = { ...content[0]!, data: data.replace('.', 'x.') } as ContentBlock;
      expect(await refusal(simulator, next([redacted]))).to.include({
        message: 'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
      });
      const found = JSON.parse(
        JSON.stringify(content.slice(2, 4)).replace(/("encrypted_content":")./, '$1_'),
      ) as ContentBlock[];
      expect(await refusal(simulator, next(found))).to.include({
        message: 'messages.1.content.1: Invalid `encrypted_content` in `search_result` block',
      });
    });
  });

  it('is JSON that fits the schema where the format says so', async () => {
    const days = { type: 'array', items: { type: 'integer' }, minItems: 1 };
    const properties = { city: { type: 'string' }, days, unit: { enum: ['C', 'F'] } };
    const schema = { ...weather.input_schema, properties };
    const request = saying('Hi', { output_config: { format: { type: 'json_schema', schema } } });
    const { content } = await ask(simulator, request);
    expect(compileCheck(schema)(JSON.parse(textOf(content)))).to.deep.equal([]);
  });

  it('searches where it has the tool and is asked to, and cites what it found', async () => {
    const { content, usage } = await ask(simulator, saying('Please search for rain', { tools: [webSearch] }));
    expect(types(content).slice(0, 4)).to.deep.equal([
      'text',
      'server_tool_use',
      'web_search_tool_result',
      'text',
    ]);
    expect(content[1]).to.deep.include({ name: 'web_search', input: { query: 'Please search for rain' } });
    expect(content[4]!['citations']).to.have.nested.property('[0].type', 'web_search_result_location');
    expect(content[3]).not.to.have.property('citations');
    expect(usage['server_tool_use']).to.deep.equal({ web_search_requests: 1, web_fetch_requests: 0 });
    expect(types((await ask(simulator, saying('Please search for rain'))).content)).to.deep.equal(['text']);
  });

  it('stops before the first stop sequence and at max_tokens', async () => {
    const stopped = await ask(simulator, saying('Hi', { stop_sequences: ['zzz', ' not'] }));
    expect(stopped).to.include({ stop_reason: 'stop_sequence', stop_sequence: ' not' });
    expect(textOf(stopped.content)).to.equal('This is the gw2api simulator,');
    const cut = await ask(simulator, saying('Hi', { max_tokens: 3 }));
    expect([textOf(cut.content), cut.stop_reason, cut.usage.output_tokens]).to.deep.equal([
      'This is the ',
      'max_tokens',
      3,
    ]);
  });

  describe('is billed', () => {
    it('the tokens that count_tokens counts', async () => {
      const request = saying('Hi', { tools: [weather], system: 'Be brief.' });
      expect(promptOf((await ask(simulator, request)).usage)).to.equal(await countTokens(simulator, request));
    });

    it('a fixed number for a system block, whatever else is there', async () => {
      const system = [{ type: 'text', text: 'You are a careful assistant.' }];
      const alone =
        (await countTokens(simulator, saying('x', { system }))) - (await countTokens(simulator, saying('x')));
      const tools = [weather];
      const among =
        (await countTokens(simulator, saying('longer', { system, tools }))) -
        (await countTokens(simulator, saying('longer', { tools })));
      expect(alone).to.be.greaterThan(5);
      expect(among).to.equal(alone);
    });

    it('the same at the start and the end of a stream, with one output token at the start', async () => {
      const events = await stream(simulator, saying('Hi'));
      const [start, end] = [events[0]!, events.at(-2)!].map((event) => {
        if (event.type === 'message_start') return event.message.usage;
        return event.type === 'message_delta' ? event.usage : undefined;
      });
      expect(start?.output_tokens).to.equal(1);
      expect(end?.input_tokens).to.equal(start?.input_tokens);
    });
  });

  describe('from a cache', () => {
    it('is written on first sight, split by ttl, and read the next time', async () => {
      const request = saying('', {
        system: [marked('The same for everybody. '.repeat(20), '1h')],
        messages: [{ role: 'user', content: [marked('The first question.')] }],
      });
      const first = await usageOf(simulator, request);
      expect(first.cache_creation).to.satisfy(
        (parts: Record<string, number>) =>
          parts['ephemeral_1h_input_tokens']! > 100 && parts['ephemeral_5m_input_tokens']! > 5,
      );
      expect(first.cache_read_input_tokens).to.equal(0);
      const second = await usageOf(simulator, request);
      expect(second).to.include({
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: first.cache_creation_input_tokens,
        input_tokens: first.input_tokens,
      });
    });

    it('is read as far as the prompt is the same, and written from there on', async () => {
      const first = await usageOf(simulator, turn('A prefix that was never seen.'));
      const second = await usageOf(simulator, turn('A prefix that was never seen.', 'And more.'));
      expect(second.cache_read_input_tokens).to.equal(first.cache_creation_input_tokens);
      expect(second.cache_creation_input_tokens).to.be.greaterThan(0);
    });

    it('belongs to one account and ends with its ttl', async () => {
      let now = 0;
      const server = await startSimulator({ clock: clockAt(() => now) });
      const request = saying('', { messages: [{ role: 'user', content: [marked('Five minutes.')] }] });
      const other = await post(server, request, {
        headers: {
          'x-api-key': 'other',
          'anthropic-version': '2023-06-01',
          'content-type': 'application/json',
        },
      });
      await other.body.dump();
      expect((await usageOf(server, request)).cache_read_input_tokens).to.equal(0);
      now += 299_000;
      expect((await usageOf(server, request)).cache_read_input_tokens).to.be.greaterThan(0);
      now += 300_000;
      expect((await usageOf(server, request)).cache_read_input_tokens).to.equal(0);
      await server.close();
    });
  });
});
