import { expect } from 'chai';
import type OpenAI from 'openai';
import { standardResponseFormat } from 'openai/helpers/standard-schema';
import { startPair, type Pair } from '../harness.js';
import { lastRequest, modelCalls, openaiAt, pdf, pixel, standardSchema } from './sdk-clients.js';

type Create = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;
type MessageParam = OpenAI.ChatCompletionMessageParam;

/** What the gateway says beside the vendor's fields, and takes back. */
interface Reasoning {
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly { readonly type: string; readonly [name: string]: unknown }[];
}

const model = 'sonnet-5';

function asking(content: string, fields: Partial<Create> = {}): Create {
  return { model, messages: [{ role: 'user', content }], ...fields };
}

function reasoningOf(message: object): Reasoning {
  return message; // its fields are optional
}

describe('the Chat SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  async function chunksOf(params: Create): Promise<readonly OpenAI.ChatCompletionChunk[]> {
    const stream = await client.chat.completions.create({ ...params, stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  }

  describe('asked once', () => {
    it('gets a completion', async () => {
      const completion = await client.chat.completions.create(asking('Hello!'));
      expect(completion).to.include({ object: 'chat.completion', model });
      expect(completion.id).to.match(/^chatcmpl-/);
      const [choice] = completion.choices;
      expect(choice).to.include({ index: 0, finish_reason: 'stop' });
      expect(choice?.message.content).to.include('You said: Hello!');
      expect(choice?.message.refusal).to.equal(null);
      const { prompt_tokens, completion_tokens, total_tokens } = completion.usage!;
      expect(prompt_tokens).to.be.greaterThan(0);
      expect(total_tokens).to.equal(prompt_tokens + completion_tokens);
    });

    it('gets the same completion chunk by chunk', async () => {
      const chunks = await chunksOf(asking('Hello!'));
      expect(chunks[0]?.choices[0]?.delta).to.include({ role: 'assistant', content: '' });
      expect(chunks.at(-1)?.choices[0]?.finish_reason).to.equal('stop');
      expect(new Set(chunks.map(({ id }) => id))).to.have.property('size', 1);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      const whole = await client.chat.completions.create(asking('Hello!'));
      expect(text).to.equal(whole.choices[0]?.message.content);
    });

    it('gets from its stream helper what a whole answer says', async () => {
      const stream = client.chat.completions.stream(asking('Hello!'));
      let heard = '';
      stream.on('content', (delta) => void (heard += delta));
      const [streamed] = (await stream.finalChatCompletion()).choices;
      const [whole] = (await client.chat.completions.create(asking('Hello!'))).choices;
      expect(heard).to.equal(whole?.message.content);
      expect(streamed).to.deep.include({ finish_reason: 'stop', index: 0 });
      expect(streamed?.message.content).to.equal(whole?.message.content);
    });

    it('gets the usage once, in a last chunk, where it asked for it', async () => {
      const params = asking('Hello!', { stream_options: { include_usage: true } });
      const chunks = await chunksOf(params);
      expect(chunks.at(-1)?.choices).to.deep.equal([]);
      expect(chunks.slice(0, -1).map(({ usage }) => usage)).to.satisfy((all: unknown[]) =>
        all.every((usage) => usage === null),
      );
      const whole = await client.chat.completions.create(asking('Hello!'));
      const { prompt_tokens_details: _, ...usage } = chunks.at(-1)!.usage!; // the second one reads the cache
      const { prompt_tokens_details: __, ...expected } = whole.usage!;
      expect(usage).to.deep.equal(expected);
      const { completion_tokens, prompt_tokens, total_tokens } = expected;
      expect(await client.chat.completions.stream(params).totalUsage()).to.include({
        completion_tokens,
        prompt_tokens,
        total_tokens,
      });
    });

    it('gets no usage in a stream where it did not ask for it', async () => {
      for (const chunk of await chunksOf(asking('Hello!'))) expect(chunk).not.to.have.property('usage');
    });

    it('gets several choices at once, whole and streamed, with their usage summed', async () => {
      const one = await client.chat.completions.create(asking('Hello!'));
      const { choices, usage } = await client.chat.completions.create(asking('Hello!', { n: 3 }));
      expect(choices.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
      expect(usage?.completion_tokens).to.equal(3 * one.usage!.completion_tokens);
      const streamed = await client.chat.completions.stream(asking('Hello!', { n: 2 })).finalChatCompletion();
      expect(streamed.choices.map(({ message }) => message.content)).to.deep.equal(
        choices.slice(0, 2).map(({ message }) => message.content),
      );
    });

    it('reads the cache from its second turn on', async () => {
      const messages: MessageParam[] = [{ role: 'user', content: 'A long text. '.repeat(50) }];
      const first = await client.chat.completions.create({ model, messages });
      messages.push(first.choices[0]!.message, { role: 'user', content: 'And now?' });
      const second = await client.chat.completions.create({ model, messages });
      expect(first.usage?.prompt_tokens_details?.cached_tokens).to.equal(0);
      expect(second.usage?.prompt_tokens_details?.cached_tokens).to.be.greaterThan(100);
      expect(second.usage?.prompt_tokens).to.be.greaterThan(first.usage!.prompt_tokens);
    });

    it('is told why an answer ended', async () => {
      const finish = async (params: Create) =>
        (await client.chat.completions.create(params)).choices[0]?.finish_reason;
      expect(await finish(asking('Hello!', { stop: 'simulator' }))).to.equal('stop');
      expect(await finish(asking('[[sim:tokens n=64]]', { max_completion_tokens: 10 }))).to.equal('length');
      expect(await finish(asking('[[sim:refusal]]'))).to.equal('content_filter');
    });

    it('gets whole characters from pairs that the upstream has split, in each chunk', async () => {
      const chunks = await chunksOf(asking('[[sim:surrogates]]'));
      const texts = chunks.map(({ choices }) => choices[0]?.delta.content ?? '');
      expect(texts.join('')).to.equal('Pairs: 🌍🚀👩‍🚀 done.');
      for (const text of texts) expect(text).not.to.match(/[\ud800-\udbff]$|^[\udc00-\udfff]/);
    });

    it('has its first system text become that of the request, and later system text stay where it is', async () => {
      await client.chat.completions.create({
        model,
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'Hello!' },
          { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
        ],
      });
      const { system, messages } = lastRequest(pair);
      const texts = Array.isArray(system) ? system.map(({ text }: { text: string }) => text) : [];
      expect(texts.at(-1)).to.equal('Be brief.');
      expect(messages.map(({ role }) => role)).to.deep.equal(['user']);
      expect(messages[0]!.content).to.have.nested.property('[1].text', '[System] Be kind.');
    });

    it('is told by a header what Messages cannot express', async () => {
      const params = asking('Hello!', { seed: 7, logprobs: true, presence_penalty: 0.5 });
      const { response } = await client.chat.completions.create(params).withResponse();
      expect(response.headers.get('x-gw-dropped')?.split(', ').toSorted()).to.deep.equal([
        'logprobs',
        'presence_penalty',
        'seed',
      ]);
    });
  });

  describe('with signed thinking', () => {
    for (const way of ['whole', 'streamed'] as const) {
      it(`carries it in reasoning_details over three ${way} turns`, async () => {
        const messages: MessageParam[] = [];
        const details: unknown[] = [];
        for (const text of ['One, please.', 'Two, “please” – naïve 🌍.', 'Three, please.']) {
          messages.push({ role: 'user', content: text });
          const params: Create = { model, messages, reasoning_effort: 'high' };
          const { choices } =
            way === 'whole'
              ? await client.chat.completions.create(params)
              : await client.chat.completions.stream(params).finalChatCompletion();
          const { message } = choices[0]!;
          const [detail, ...others] = reasoningOf(message).reasoning_details ?? [];
          expect(others).to.deep.equal([]);
          expect(detail).to.include({ type: 'reasoning.text' });
          details.push(detail);
          messages.push(message);
        }
        const blocks = lastRequest(pair).messages.flatMap(({ role, content }) =>
          role === 'assistant' && typeof content !== 'string' ? content.slice(0, 1) : [],
        );
        expect(blocks.map(({ type, thinking, signature }) => ({ type, thinking, signature }))).to.deep.equal(
          (details.slice(0, 2) as { text: string; signature: string }[]).map(({ text, signature }) => ({
            type: 'thinking',
            thinking: text,
            signature,
          })),
        );
      });
    }

    it('shows it as reasoning_content, and counts it', async () => {
      const params = asking('Think.', { reasoning_effort: 'low' });
      const { choices, usage } = await client.chat.completions.create(params);
      const { reasoning_content, reasoning_details } = reasoningOf(choices[0]!.message);
      expect(reasoning_content).to.include('[simulated thinking]');
      expect(reasoning_details?.[0]).to.include({ text: reasoning_content });
      expect(usage?.completion_tokens_details?.reasoning_tokens).to.be.greaterThan(0);
      const deltas = (await chunksOf(params)).map(({ choices: [choice] }) => reasoningOf(choice!.delta));
      expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).to.equal(reasoning_content);
    });

    it('carries redacted thinking, too', async () => {
      const messages: MessageParam[] = [{ role: 'user', content: 'Hide it. [[sim:redacted]]' }];
      const params: Create = { model, messages, reasoning_effort: 'high' };
      const { message } = (await client.chat.completions.create(params)).choices[0]!;
      const [detail] = reasoningOf(message).reasoning_details ?? [];
      expect(detail).to.include({ type: 'reasoning.encrypted' });
      messages.push(message, { role: 'user', content: 'Go on.' });
      await client.chat.completions.create(params);
      expect(lastRequest(pair).messages[1]?.content).to.deep.include({
        type: 'redacted_thinking',
        data: detail?.['data'],
      });
    });
  });

  describe('with structured output', () => {
    const weather = standardSchema<{ city: string; wind: { knots: number } }>({
      type: 'object',
      properties: {
        city: { type: 'string' },
        wind: { type: 'object', properties: { knots: { type: 'number' } }, required: ['knots'] },
      },
      required: ['city', 'wind'],
    });
    const format = standardResponseFormat(weather, 'weather');

    it('parses an answer that fits the schema', async () => {
      const completion = await client.chat.completions.parse({
        ...asking('The weather?'),
        response_format: format,
      });
      expect(completion.choices[0]?.message.parsed?.wind.knots).to.be.a('number');
      expect(lastRequest(pair).output_config?.format).to.include({ type: 'json_schema' });
    });

    it('parses the answer of a stream', async () => {
      const stream = client.chat.completions.stream({ ...asking('The weather?'), response_format: format });
      const [choice] = (await stream.finalChatCompletion()).choices;
      expect(choice?.message.parsed).to.have.all.keys('city', 'wind');
    });

    it('asks for JSON in words where there is no schema', async () => {
      await client.chat.completions.create(asking('Hello!', { response_format: { type: 'json_object' } }));
      expect(JSON.stringify(lastRequest(pair).system)).to.include('JSON');
      expect(lastRequest(pair)).not.to.have.property('output_config');
    });
  });

  describe('with images and documents', () => {
    it('has each of them reach the upstream as a block', async () => {
      await client.chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
              { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'auto' } },
              {
                type: 'file',
                file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
              },
            ],
          },
        ],
      });
      const [text, inline, linked, file] = lastRequest(pair).messages[0]!.content as object[]; // four parts were sent
      expect(text).to.include({ text: 'What is this?' });
      expect(inline).to.deep.include({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: pixel },
      });
      expect(linked).to.deep.include({
        type: 'image',
        source: { type: 'url', url: 'https://example.com/a.png' },
      });
      expect(file).to.deep.include({
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        title: 'a.pdf',
      });
    });
  });

  describe('with a web search', () => {
    const question = asking('Search for koalas.', { web_search_options: {} });

    for (const way of ['whole', 'streamed'] as const) {
      it(`gets the citations of a ${way} answer as annotations that point into its text`, async () => {
        const { choices } =
          way === 'whole'
            ? await client.chat.completions.create(question)
            : await client.chat.completions.stream(question).finalChatCompletion();
        const { content, annotations } = choices[0]!.message;
        const cited = annotations!.map(({ url_citation }) => url_citation);
        expect(cited.map(({ url }) => url)).to.deep.equal([
          'https://example.com/simulated/1',
          'https://example.com/simulated/2',
        ]);
        for (const { start_index, end_index } of cited)
          expect(content!.slice(start_index, end_index)).to.match(/^A made-up passage about/);
      });
    }

    it('has a paused turn continued by the gateway', async () => {
      const earlier = modelCalls(pair).length;
      const { choices } = await client.chat.completions.create(asking('Look. [[sim:pause n=2]]'));
      expect(modelCalls(pair).length - earlier).to.equal(3);
      expect(choices[0]?.finish_reason).to.equal('stop');
      const { content } = choices[0]!.message;
      expect(content).to.match(/^I'll search for that\.One more search\..*That is all it can say\.$/s);
      const streamed = await client.chat.completions
        .stream(asking('Look. [[sim:pause n=2]]'))
        .finalChatCompletion();
      expect(streamed.choices[0]?.message.content).to.equal(content);
    });
  });
});
