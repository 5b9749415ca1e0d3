import type Anthropic from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { expect } from 'chai';
import { masterKey, startPair, type Pair } from '../harness.js';
import { anthropicAt, lastRequest, modelCalls, pdf, pixel } from './sdk-clients.js';

type Create = Anthropic.MessageCreateParamsNonStreaming;
type MessageParam = Anthropic.MessageParam;

const model = 'sonnet-5';

function asking(content: MessageParam['content'], fields: Partial<Create> = {}): Create {
  return { model, max_tokens: 1000, messages: [{ role: 'user', content }], ...fields };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe('the Messages SDK', () => {
  let pair: Pair;
  let client: Anthropic;
  before(async () => {
    pair = await startPair();
    client = anthropicAt(pair);
  });
  after(() => pair.close());

  describe('asked once', () => {
    it('gets a message', async () => {
      const message = await client.messages.create(asking('Hello!'));
      expect(message).to.include({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' });
      expect(textOf(message)).to.include('You said: Hello!');
      expect(message.usage.input_tokens).to.be.greaterThan(0);
      expect(message.usage.output_tokens).to.be.greaterThan(0);
      expect(message._request_id).to.match(/^req_/);
    });

    it('gets the same message event by event', async () => {
      const stream = await client.messages.create({ ...asking('Hello!'), stream: true });
      const events = [];
      for await (const event of stream) events.push(event);
      expect(events[0]?.type).to.equal('message_start');
      expect(events.at(-1)?.type).to.equal('message_stop');
      const text = events.map((event) =>
        event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '',
      );
      expect(text.join('')).to.equal(textOf(await client.messages.create(asking('Hello!'))));
    });

    it('gets from its stream helper what a whole answer says, usage included', async () => {
      const question = asking('Say it at length. [[sim:tokens n=200]]');
      const streamed = await client.messages.stream(question).finalMessage();
      const whole = await client.messages.create(question);
      expect(streamed.content).to.deep.equal(whole.content);
      expect(streamed.stop_reason).to.equal(whole.stop_reason);
      expect(streamed.usage).to.deep.equal(whole.usage);
    });

    it('hears each text delta in order', async () => {
      const stream = client.messages.stream(asking('Hello!'));
      let heard = '';
      stream.on('text', (delta, snapshot) => {
        heard += delta;
        expect(snapshot).to.equal(heard);
      });
      expect(await stream.finalText()).to.equal(heard);
    });

    it('gets whole characters from pairs that the upstream has split', async () => {
      const message = await client.messages.stream(asking('[[sim:surrogates]]')).finalMessage();
      expect(textOf(message)).to.equal('Pairs: 🌍🚀👩‍🚀 done.');
    });

    for (const scenario of ['bytes', 'crlf', 'gzip']) {
      it(`reads what came upstream as ${scenario}`, async () => {
        const message = await client.messages.stream(asking(`Hi [[sim:${scenario}]]`)).finalMessage();
        expect(textOf(message)).to.include('You said: Hi');
      });
    }

    it('is told of a stop sequence and of max_tokens', async () => {
      const stopped = await client.messages.create(asking('Hello!', { stop_sequences: ['simulator'] }));
      expect(stopped).to.include({ stop_reason: 'stop_sequence', stop_sequence: 'simulator' });
      const cut = await client.messages.create(asking('[[sim:tokens n=64]]', { max_tokens: 10 }));
      expect(cut.stop_reason).to.equal('max_tokens');
    });

    it('takes a refusal and an empty turn for answers', async () => {
      const refused = await client.messages.create(asking('[[sim:refusal]]'));
      expect(refused).to.deep.include({ stop_reason: 'refusal', content: [] });
      expect(refused.stop_details).to.include({ type: 'refusal' });
      const empty = await client.messages.stream(asking('[[sim:empty-turn]]')).finalMessage();
      expect(empty).to.deep.include({ stop_reason: 'end_turn', content: [] });
    });
  });

  describe('and its API versions', () => {
    it('sends 2026-10-21 with a bearer token, which goes upstream with the key of the slot', async () => {
      await client.messages.create(asking('Hello!'));
      const { headers } = modelCalls(pair).at(-1)!;
      expect(headers).to.include({ 'anthropic-version': '2026-10-21', 'x-api-key': 'upstream-key-a' });
      expect(headers).not.to.have.property('authorization');
    });

    it('sends 2023-06-01 with x-api-key, and then sampling is taken', async () => {
      const older = anthropicAt(pair, {
        defaultHeaders: { 'anthropic-version': '2023-06-01', 'x-api-key': masterKey, authorization: null },
      });
      const sampled: object = { temperature: 0.5, top_p: 0.9 };
      await older.messages.create({ ...asking('Hello!'), ...sampled });
      expect(modelCalls(pair).at(-1)!.headers).to.include({ 'anthropic-version': '2023-06-01' });
      expect(lastRequest(pair)).to.include(sampled);
    });

    it('has its betas and its query passed on', async () => {
      const context_management = { edits: [{ type: 'clear_tool_uses_20250919' as const }] };
      const message = await client.beta.messages.create(
        {
          model,
          max_tokens: 1000,
          messages: [{ role: 'user', content: 'Hello!' }],
          betas: ['context-management-2025-06-27', 'made-up-2026-01-01'],
          context_management,
        },
        { query: { beta: true } }, // the SDK adds it no longer, but its predecessors do
      );
      expect(message.content).to.have.length(1);
      const { headers, search } = modelCalls(pair).at(-1)!;
      expect(headers['anthropic-beta']).to.equal('context-management-2025-06-27,made-up-2026-01-01');
      expect(search).to.equal('?beta=true');
      expect(lastRequest(pair)).to.deep.include({ context_management });
      expect(lastRequest(pair)).not.to.have.property('betas');
    });
  });

  describe('with signed thinking', () => {
    const thinking = { type: 'adaptive' } as const;

    for (const way of ['whole', 'streamed'] as const) {
      it(`carries it byte-exact over three ${way} turns`, async () => {
        const messages: MessageParam[] = [];
        for (const text of ['One, please.', 'Two, “please” – naïve 🌍.', 'Three, please.']) {
          messages.push({ role: 'user', content: text });
          const params: Create = { model, max_tokens: 4000, thinking, messages };
          const { content } =
            way === 'whole'
              ? await client.messages.create(params)
              : await client.messages.stream(params).finalMessage();
          expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text']);
          messages.push({ role: 'assistant', content });
        }
        const sent = lastRequest(pair).messages.filter(({ role }) => role === 'assistant');
        expect(sent.map(({ content }) => content)).to.deep.equal([
          messages[1]!.content,
          messages[3]!.content,
        ]);
      });
    }

    it('is refused by the upstream where one byte of a signature has changed', async () => {
      const question = { role: 'user', content: 'Think.' } as const;
      const params: Create = { model, max_tokens: 4000, thinking, messages: [question] };
      const { content } = await client.messages.create(params);
      const [thought, ...rest] = content;
      if (thought?.type !== 'thinking') throw new Error('It did not think.');
      const signature = thought.signature.replace(/.(?=.{20}$)/, (at) => (at === 'A' ? 'B' : 'A'));
      const changed = [{ ...thought, signature }, ...rest];
      const messages: MessageParam[] = [question, { role: 'assistant', content: changed }, question];
      const failure = await client.messages.create({ ...params, messages }).catch(String);
      expect(failure).to.include('Invalid `signature` in `thinking` block');
    });

    it('carries redacted thinking', async () => {
      const question = { role: 'user', content: 'Hide it. [[sim:redacted]]' } as const;
      const params: Create = { model, max_tokens: 4000, thinking, messages: [question] };
      const { content } = await client.messages.stream(params).finalMessage();
      expect(content[0]?.type).to.equal('redacted_thinking');
      const messages: MessageParam[] = [question, { role: 'assistant', content }, question];
      await client.messages.create({ ...params, messages });
      expect(lastRequest(pair).messages[1]?.content).to.deep.equal(content);
    });
  });

  describe('with structured output', () => {
    const format = jsonSchemaOutputFormat({
      type: 'object',
      properties: {
        city: { type: 'string' },
        degrees: { type: 'number' },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['city', 'degrees', 'tags'],
      additionalProperties: false,
    });

    it('parses an answer that fits the schema', async () => {
      const message = await client.messages.parse({
        ...asking('The weather, please.'),
        output_config: { format },
      });
      expect(message.parsed_output).to.have.all.keys('city', 'degrees', 'tags');
      expect(lastRequest(pair).output_config?.format).to.deep.include({ type: 'json_schema' });
    });

    it('parses the answers of the beta way too', async () => {
      const params = {
        model,
        max_tokens: 1000,
        messages: [{ role: 'user' as const, content: 'The weather, please.' }],
        output_config: { format },
      };
      const whole = await client.beta.messages.parse(params);
      expect(whole.parsed_output).to.have.all.keys('city', 'degrees', 'tags');
      const streamed = await client.beta.messages.stream(params).finalMessage();
      expect(streamed.parsed_output).to.deep.equal(whole.parsed_output);
    });

    it('parses the answer of a stream', async () => {
      const stream = client.messages.stream({
        ...asking('The weather, please.'),
        output_config: { format },
      });
      const message = await stream.finalMessage();
      expect(message.parsed_output).to.have.all.keys('city', 'degrees', 'tags');
    });
  });

  describe('with images and documents', () => {
    const blocks: Anthropic.ContentBlockParam[] = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        title: 'Terms',
        citations: { enabled: true },
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } },
    ];

    it('has each of them reach the upstream as it was', async () => {
      const message = await client.messages.create(asking(blocks));
      expect(message.stop_reason).to.equal('end_turn');
      expect(lastRequest(pair).messages[0]?.content).to.deep.equal(blocks);
    });
  });

  describe('asked to count tokens', () => {
    it('gets a number that grows with the text', async () => {
      const count = async (content: string) =>
        (await client.messages.countTokens({ model, messages: [{ role: 'user', content }] })).input_tokens;
      const [few, many] = [await count('Hello!'), await count('Hello! '.repeat(100))];
      expect(few).to.be.greaterThan(0);
      expect(many).to.be.greaterThan(few + 50);
    });

    it('gets the number that the same request is then billed', async () => {
      const messages: MessageParam[] = [{ role: 'user', content: 'How much is this?' }];
      const { input_tokens } = await client.messages.countTokens({ model, messages });
      const { usage } = await client.messages.create({ model, max_tokens: 100, messages });
      expect(usage.input_tokens).to.equal(input_tokens);
    });

    it('counts by the beta way too', async () => {
      const { input_tokens } = await client.beta.messages.countTokens({
        model,
        messages: [{ role: 'user', content: 'Hello!' }],
        betas: ['token-counting-2024-11-01'],
      });
      expect(input_tokens).to.be.greaterThan(0);
    });
  });
});
