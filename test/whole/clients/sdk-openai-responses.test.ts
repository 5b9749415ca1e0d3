import { expect } from 'chai';
import { NotFoundError, type default as OpenAI } from 'openai';
import { standardTextFormat } from 'openai/helpers/standard-schema';
import { startPair, type Pair } from '../harness.js';
import { failureOf, lastRequest, openaiAt, pdf, pixel, standardSchema } from './sdk-clients.js';

type Responses = OpenAI.Responses.Response;
type Create = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;
type InputItem = OpenAI.Responses.ResponseInputItem;

const model = 'sonnet-5';

function itemsOf<Type extends OpenAI.Responses.ResponseOutputItem['type']>(
  { output }: Responses,
  type: Type,
) {
  return output.filter(
    (item): item is Extract<OpenAI.Responses.ResponseOutputItem, { type: Type }> => item.type === type,
  );
}

describe('the Responses SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  const ways = {
    whole: (params: Create): Promise<Responses> => client.responses.create(params),
    streamed: (params: Create): Promise<Responses> => client.responses.stream(params).finalResponse(),
  };

  describe('asked once', () => {
    it('gets a response with all its fields', async () => {
      const response = await client.responses.create({ model, input: 'Hello!', instructions: 'Be brief.' });
      expect(response).to.deep.include({
        object: 'response',
        status: 'completed',
        model,
        error: null,
        incomplete_details: null,
        instructions: 'Be brief.',
        parallel_tool_calls: true,
        store: true,
        metadata: {},
      });
      expect(response.id).to.match(/^resp_/);
      expect(response._request_id).to.be.a('string').that.is.not.equal('');
      expect(response.output_text).to.include('You said: Hello!');
      const { input_tokens, output_tokens, total_tokens, output_tokens_details } = response.usage!;
      expect(total_tokens).to.equal(input_tokens + output_tokens);
      expect(output_tokens_details).to.deep.equal({ reasoning_tokens: 0 });
    });

    it('gets the same response event by event, numbered from 0', async () => {
      const stream = await client.responses.create({ model, input: 'Hello!', stream: true });
      const events = [];
      for await (const event of stream) events.push(event);
      expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal([...events.keys()]);
      expect(events.slice(0, 2).map(({ type }) => type)).to.deep.equal([
        'response.created',
        'response.in_progress',
      ]);
      const last = events.at(-1);
      if (last?.type !== 'response.completed') throw new Error(`It ended with ${last?.type}.`);
      const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
      const whole = await client.responses.create({ model, input: 'Hello!' });
      expect(text.join('')).to.equal(whole.output_text);
      expect(last.response.output).to.have.nested.property('[0].content[0].text', whole.output_text);
    });

    it('gets from its stream helper what a whole answer says', async () => {
      const stream = client.responses.stream({ model, input: 'Hello!' });
      let heard = '';
      stream.on('response.output_text.delta', ({ delta, snapshot }) => {
        heard += delta;
        expect(snapshot).to.equal(heard);
      });
      const streamed = await stream.finalResponse();
      const whole = await client.responses.create({ model, input: 'Hello!' });
      expect(streamed.output_text).to.equal(whole.output_text).and.to.equal(heard);
      expect(streamed.status).to.equal('completed');
    });

    it('is told why a response is incomplete', async () => {
      for (const create of Object.values(ways)) {
        const cut = await create({ model, input: '[[sim:tokens n=64]]', max_output_tokens: 10 });
        expect(cut).to.deep.include({
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
        });
        const refused = await create({ model, input: '[[sim:refusal]]' });
        expect(refused).to.deep.include({
          status: 'incomplete',
          incomplete_details: { reason: 'content_filter' },
        });
      }
    });

    it('is told by a header what Messages cannot express', async () => {
      const params: Create = { model, input: 'Hello!', truncation: 'auto', top_logprobs: 2 };
      const { response } = await client.responses.create(params).withResponse();
      expect(response.headers.get('x-gw-dropped')?.split(', ').toSorted()).to.deep.equal([
        'top_logprobs',
        'truncation',
      ]);
    });
  });

  for (const [way, create] of Object.entries(ways)) {
    describe(`with signed thinking over three ${way} turns`, () => {
      const texts = ['One, please.', 'Two, “please” – naïve 🌍.', 'Three, please.'];
      const reasoning = { effort: 'high', summary: 'auto' } as const;

      function sentThoughts(): readonly unknown[] {
        return lastRequest(pair).messages.flatMap(({ role, content }) =>
          role === 'assistant' && typeof content !== 'string' ? content[0]?.type : [],
        );
      }

      it('carries it in encrypted_content where nothing is stored', async () => {
        const input: InputItem[] = [];
        for (const text of texts) {
          input.push({ role: 'user', content: text });
          const response = await create({
            model,
            input,
            reasoning,
            store: false,
            include: ['reasoning.encrypted_content'],
          });
          expect(response.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message']);
          const [thought] = itemsOf(response, 'reasoning');
          expect(thought?.encrypted_content).to.be.a('string');
          expect(thought?.summary[0]?.text).to.include('[simulated thinking]');
          input.push(...(response.output as InputItem[])); // what comes out may go in
        }
        expect(sentThoughts()).to.deep.equal(['thinking', 'thinking']);
      });

      it('carries it by previous_response_id where it is stored', async () => {
        let previous: Responses | undefined;
        for (const text of texts) {
          previous = await create({
            model,
            input: text,
            reasoning,
            ...(previous && { previous_response_id: previous.id }),
          });
          expect(itemsOf(previous, 'reasoning')[0]).not.to.have.property('encrypted_content');
        }
        expect(sentThoughts()).to.deep.equal(['thinking', 'thinking']);
        expect(lastRequest(pair).messages).to.have.length(5);
      });
    });
  }

  describe('with structured output', () => {
    const weather = standardSchema<{ city: string; wind: { knots: number } }>({
      type: 'object',
      properties: {
        city: { type: 'string' },
        wind: { type: 'object', properties: { knots: { type: 'number' } }, required: ['knots'] },
      },
      required: ['city', 'wind'],
    });
    const params = { model, input: 'The weather?', text: { format: standardTextFormat(weather, 'weather') } };

    it('parses an answer that fits the schema', async () => {
      const response = await client.responses.parse(params);
      expect(response.output_parsed?.wind.knots).to.be.a('number');
      expect(lastRequest(pair).output_config?.format).to.include({ type: 'json_schema' });
    });

    it('parses the answer of a stream', async () => {
      const response = await client.responses.stream(params).finalResponse();
      expect(response.output_parsed).to.have.all.keys('city', 'wind');
    });
  });

  describe('with images and documents', () => {
    it('has each of them reach the upstream as a block', async () => {
      await client.responses.create({
        model,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What is this?' },
              { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pixel}` },
              { type: 'input_image', detail: 'auto', image_url: 'https://example.com/a.png' },
              { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
              { type: 'input_file', file_url: 'https://example.com/a.pdf' },
            ],
          },
        ],
      });
      const [, ...blocks] = lastRequest(pair).messages[0]!.content as { type: string; source: object }[]; // five parts
      expect(blocks.map(({ type, source }) => ({ type, source }))).to.deep.equal([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      ]);
    });
  });

  describe('with stored responses', () => {
    it('gets one back, and no longer once it has been deleted', async () => {
      const response = await client.responses.create({ model, input: 'Hello!' });
      const { output_text, ...stored } = await client.responses.retrieve(response.id);
      expect(stored.id).to.equal(response.id);
      expect(stored.output).to.deep.equal(response.output);
      expect(output_text).to.equal(response.output_text);
      await client.responses.delete(response.id);
      await failureOf(client.responses.retrieve(response.id), NotFoundError);
    });

    it('finds none where the caller said store: false', async () => {
      const { id } = await client.responses.create({ model, input: 'Hello!', store: false });
      await failureOf(client.responses.retrieve(id), NotFoundError);
    });

    it('keeps a streamed response before its end is told', async () => {
      const stream = await client.responses.create({ model, input: 'Hello!', stream: true });
      for await (const event of stream) {
        if (event.type !== 'response.completed') continue;
        const stored = await client.responses.retrieve(event.response.id);
        expect(stored.output).to.deep.equal(event.response.output);
      }
    });
  });
});
