import { expect } from 'chai';
import { BadRequestError, NotFoundError, type default as OpenAI } from 'openai';
import { checkResponses } from '../../plugins/formats/grammar/responses.js';
import { modelCalls, failureOf, openaiAt } from './sdk-clients.js';
import { startPair, type Pair } from '../harness.js';

const model = 'sonnet-5';

/** As a body that is to be sent after the count has them. */
const settings = { max_output_tokens: 5, temperature: 0.5, store: false, user: 'u' };

/** The vendor takes it of input messages, whatever its type says. */
const ownId = { id: 'msg_own' };

describe('the Responses SDK, of what is stored', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  describe('counting', () => {
    it('gets the tokens that a request would have', async () => {
      const count = (input: string) => client.responses.inputTokens.count({ model, input });
      const short = await count('Hi');
      expect(short.object).to.equal('response.input_tokens');
      expect(short.input_tokens).to.be.greaterThan(0);
      expect((await count('Hi '.repeat(100))).input_tokens).to.be.greaterThan(short.input_tokens);
    });

    it('sends what counts and nothing that a count upstream would refuse', async () => {
      await client.responses.inputTokens.count({
        model,
        input: 'Hi',
        instructions: 'Be brief.',
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
        ...settings,
      });
      const { path, body } = pair.simulator.requests.at(-1)!;
      expect(path).to.contain('/v1/messages/count_tokens');
      expect(Object.keys(body as object)).to.have.members(['model', 'messages', 'system', 'tools']);
    });

    it('counts the response before, and is a 400 where that has gone', async () => {
      const { id } = await client.responses.create({ model, input: 'Once upon a time '.repeat(50) });
      const alone = await client.responses.inputTokens.count({ model, input: 'Hi' });
      const both = await client.responses.inputTokens.count({ model, input: 'Hi', previous_response_id: id });
      expect(both.input_tokens).to.be.greaterThan(alone.input_tokens + 100);
      const gone = client.responses.inputTokens.count({ model, input: 'Hi', previous_response_id: 'resp_x' });
      const { code } = await failureOf(gone, BadRequestError);
      expect(code).to.equal('previous_response_not_found');
    });
  });

  describe('listing input items', () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'three' },
      {
        ...ownId,
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'four' }],
      },
      { role: 'user', content: 'five' },
    ];
    let id = '';
    before(async () => void ({ id } = await client.responses.create({ model, input })));

    it('gets them as they are listed, the newest first, each with an id and a type', async () => {
      const page = await client.responses.inputItems.list(id);
      const types = page.data.map(({ type }) => type);
      expect(types.toReversed()).to.deep.equal([
        'message',
        'message',
        'function_call',
        'function_call_output',
        'message',
        'message',
      ]);
      const [five, four] = page.data;
      expect(five).to.deep.include({
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'five' }],
      });
      expect(four!.id).to.equal('msg_own');
      expect(new Set(page.data.map((item) => item.id)).size).to.equal(6);
      expect(page.has_more).to.equal(false);
    });

    it('turns pages in both orders', async () => {
      for (const order of ['asc', 'desc'] as const) {
        const seen: string[] = [];
        const query = { limit: 2, order };
        for await (const item of client.responses.inputItems.list(id, query)) seen.push(item.id);
        const all = (await client.responses.inputItems.list(id, { order })).data.map((item) => item.id);
        expect(seen).to.deep.equal(all);
        expect(seen).to.have.length(6);
      }
    });

    it('finds an item by its id in a request after', async () => {
      const [first] = (await client.responses.inputItems.list(id, { order: 'asc' })).data;
      const named = [{ type: 'item_reference' as const, id: first!.id }];
      await client.responses.create({ model, input: named });
      const { messages } = modelCalls(pair).at(-1)!.body as { messages: unknown };
      expect(JSON.stringify(messages)).to.contain('"one"');
    });

    it('is refused for a page that cannot be', async () => {
      const list = (query: object) => client.responses.inputItems.list(id, query);
      for (const query of [
        { limit: 0 },
        { limit: 101 },
        { limit: 'x' },
        { order: 'up' },
        { after: 'nobody' },
      ])
        expect((await failureOf(list(query), BadRequestError)).message).to.contain(Object.keys(query)[0]);
      await failureOf(client.responses.inputItems.list('resp_unknown'), NotFoundError);
    });
  });

  describe('retrieving a stream', () => {
    type Event = OpenAI.Responses.ResponseStreamEvent;

    async function eventsOf(id: string, starting_after?: number): Promise<readonly Event[]> {
      const events: Event[] = [];
      const query = { stream: true as const, ...(starting_after !== undefined && { starting_after }) };
      for await (const event of await client.responses.retrieve(id, query)) events.push(event);
      return events;
    }

    it('gets the events that make the response, numbered from 0', async () => {
      const whole = await client.responses.create({ model, input: 'Hello!' });
      const events = await eventsOf(whole.id);
      expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal(events.map((_, at) => at));
      const last = events.at(-1)!;
      expect(last.type).to.equal('response.completed');
      if (last.type !== 'response.completed') return;
      expect(last.response.id).to.equal(whole.id);
      const said = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
      expect(said.join('')).to.equal(whole.output_text);
    });

    it('is of the same grammar as a stream that is new', async () => {
      const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false } as const];
      const asked = { model, tools, include: ['reasoning.encrypted_content' as const] };
      for (const scenario of [
        'thinking',
        'redacted',
        'tool',
        'parallel',
        'search',
        'refusal',
        'interleave',
      ]) {
        const { id } = await client.responses.create({ ...asked, input: `[[sim:${scenario}]]` });
        checkResponses(await (await pair.get(`/v1/responses/${id}?stream=true`)).text());
      }
    });

    it('goes on after the event that is named, and always ends with the whole response', async () => {
      const { id } = await client.responses.create({ model, input: 'Hello!' });
      const all = await eventsOf(id);
      expect(await eventsOf(id, 3)).to.deep.equal(all.slice(4));
      const [last, ...rest] = await eventsOf(id, 5000);
      expect(rest).to.deep.equal([]);
      expect(last).to.include({ type: 'response.completed', sequence_number: 5001 });
    });

    it('is refused where its query cannot be read', async () => {
      const { id } = await client.responses.create({ model, input: 'Hello!' });
      for (const query of ['stream=yes', 'stream=true&starting_after=x'])
        expect((await pair.get(`/v1/responses/${id}?${query}`)).status).to.equal(400);
      expect((await pair.get('/v1/responses/resp_x?stream=true')).status).to.equal(404);
    });
  });

  it('cannot cancel what does not run in the background', async () => {
    const { id } = await client.responses.create({ model, input: 'Hi' });
    const error = await failureOf(client.responses.cancel(id), BadRequestError);
    expect(error.code).to.equal('invalid_request');
    expect(error.message).to.contain('nothing in the background');
  });

  describe('the paths', () => {
    const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(pair.url + path, { method, headers: { 'x-api-key': 'test-master-key', ...headers } });

    for (const prefix of ['/v1', '']) {
      it(`have no response by the name of a route (${prefix || 'without /v1'})`, async () => {
        for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
          const response = await ask(method, `${prefix}/responses/input_tokens`);
          expect(response.status, method).to.equal(405);
          expect(response.headers.get('allow')).to.equal('POST, OPTIONS');
        }
        const options = await ask('OPTIONS', `${prefix}/responses/input_tokens`);
        expect(options.headers.get('allow')).to.equal('POST, OPTIONS');
        expect((await ask('GET', `${prefix}/responses/input_tokens/input_items`)).status).to.equal(404);
        expect((await ask('POST', `${prefix}/responses/input_tokens/cancel`)).status).to.equal(404);
      });

      it(`refuse other methods and callers without a key (${prefix || 'without /v1'})`, async () => {
        for (const [method, path, allow] of [
          ['POST', `${prefix}/responses/resp_x/input_items`, 'GET, HEAD, OPTIONS'],
          ['GET', `${prefix}/responses/resp_x/cancel`, 'POST, OPTIONS'],
          ['POST', `${prefix}/responses/resp_x`, 'DELETE, GET, HEAD, OPTIONS'],
        ] as const) {
          const response = await ask(method, path);
          expect(response.status, path).to.equal(405);
          expect(response.headers.get('allow')).to.equal(allow);
        }
        for (const [method, path] of [
          ['GET', `${prefix}/responses/resp_x/input_items`],
          ['POST', `${prefix}/responses/resp_x/cancel`],
          ['POST', `${prefix}/responses/input_tokens`],
        ] as const)
          expect((await ask(method, path, { 'x-api-key': '' })).status, path).to.equal(401);
        expect((await ask('POST', `${prefix}/responses/resp_x/cancel`)).status).to.equal(400);
      });
    }
  });
});
