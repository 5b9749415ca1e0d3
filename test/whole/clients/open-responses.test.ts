import { expect } from 'chai';
import { startPair, type Pair } from '../harness.js';
import { lastRequest } from './sdk-clients.js';
import { SocketClient } from '../socket-client.js';

/** The cases of the Open Responses suite over WebSocket, and some beside them; those over HTTP are in other files. */
describe('Responses over WebSocket', () => {
  let pair: Pair;
  let client: SocketClient;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());
  beforeEach(async () => {
    client = await SocketClient.open(pair);
  });
  afterEach(() => client.close());

  const sent = () => JSON.stringify(lastRequest(pair).messages);

  it('answers with the events of a stream, without [DONE]', async () => {
    client.create({ input: 'Hello!' });
    const events = await client.answer();
    expect(events.map(({ sequence_number: number }) => number)).to.deep.equal(events.map((_, at) => at));
    expect(events[0]).to.have.property('type', 'response.created');
    expect(events.at(-1)?.response).to.include({ status: 'completed', model: 'sonnet-5' });
    expect(JSON.stringify(events.at(-1))).to.include('You said: Hello!');
  });

  it('answers sequential messages one after the other, also those sent at once', async () => {
    for (const input of ['first', 'second', 'third']) client.create({ input, store: false });
    for (const input of ['first', 'second', 'third'])
      expect(JSON.stringify((await client.answer()).at(-1))).to.include(`You said: ${input}`);
  });

  it('continues by previous_response_id what is not stored', async () => {
    const { response } = await client.ask({ input: 'The word is cobalt.', store: false });
    const next = await client.ask({
      input: 'And?',
      store: false,
      previous_response_id: response?.id,
    });
    expect(next.response).to.include({ status: 'completed', previous_response_id: response?.id });
    expect(sent()).to.include('You said: The word is cobalt.').and.include('And?');
    const third = await client.ask({ input: 'So?', store: false, previous_response_id: next.response?.id });
    expect(third.type).to.equal('response.completed');
    expect(sent()).to.include('The word is cobalt.').and.include('So?');
    expect((await pair.get(`/v1/responses/${response?.id}`)).status).to.equal(404);
  });

  it('continues what is stored on another connection', async () => {
    const { response } = await client.ask({ input: 'The word is cobalt.' });
    const other = await SocketClient.open(pair, { path: '/responses' });
    const next = await other.ask({ input: 'And?', previous_response_id: response?.id });
    expect(next.type).to.equal('response.completed');
    await other.close();
  });

  it('does not find after a reconnect what is not stored, and starts anew', async () => {
    const { response } = await client.ask({ input: 'The word is copper.', store: false });
    const other = await SocketClient.open(pair);
    const lost = await other.ask({ input: 'And?', store: false, previous_response_id: response?.id });
    expect([lost.type, lost.error?.code]).to.deep.equal(['error', 'previous_response_not_found']);
    expect(lost.status).to.equal(400);
    expect(lost.error).to.include({ param: 'previous_response_id' });
    expect((await other.ask({ input: 'Again', store: false })).response?.status).to.equal('completed');
    await other.close();
  });

  it('does not find a previous response that is not there', async () => {
    const { error, headers } = await client.ask({ input: 'Hi', previous_response_id: 'resp_none' });
    expect(error?.code).to.equal('previous_response_not_found');
    expect(error?.message).to.match(/^Previous response with id 'resp_none' not found\./);
    expect(headers?.['x-request-id']).to.match(/^req_/);
  });

  const failing = {
    'that the upstream refuses': { input: '[[sim:400]]' },
    'with a field that is wrong': { input: 'More', temperature: 'hot' },
    'that breaks off': { input: '[[sim:cut after=6]] [[sim:tokens n=50]]' },
  };
  for (const [which, fields] of Object.entries(failing)) {
    it(`forgets the response before a continuation ${which}`, async () => {
      const { response } = await client.ask({ input: 'The word is ember.', store: false });
      const previous = { store: false, previous_response_id: response?.id };
      expect((await client.ask({ ...previous, ...fields })).type).to.be.oneOf(['error', 'response.failed']);
      const again = await client.ask({ ...previous, input: 'Again' });
      expect(again.error?.code).to.equal('previous_response_not_found');
    });
  }

  it('keeps the response where a message fails that does not continue it', async () => {
    const { response } = await client.ask({ input: 'The word is ember.', store: false });
    expect((await client.ask({ input: 7 })).type).to.equal('error');
    const next = await client.ask({ input: 'And?', store: false, previous_response_id: response?.id });
    expect(next.type).to.equal('response.completed');
  });

  it('starts a new chain from a compacted one', async () => {
    const input = [
      { role: 'user', content: 'The word is slate.' },
      { role: 'assistant', content: 'OK.' },
    ];
    const compacted = await pair.post('/v1/responses/compact', { model: 'sonnet-5', input });
    const { output } = (await compacted.json()) as { output: readonly object[] };
    const { response } = await client.ask({
      input: [...output, { role: 'user', content: 'Go on.' }],
      store: false,
      tools: [],
    });
    expect(response?.status).to.equal('completed');
    expect(sent()).to.include('The word is slate.').and.include('Summary of the conversation');
  });

  it('warms up with generate: false, without a call, and goes on from that', async () => {
    const calls = pair.simulator.requests.length;
    const { response } = await client.ask({ input: 'The word is teal.', store: false, generate: false });
    expect(response).to.deep.include({ status: 'completed', output: [] });
    expect(pair.simulator.requests).to.have.length(calls);
    await client.ask({ input: 'And?', store: false, previous_response_id: response?.id });
    expect(sent()).to.include('The word is teal.').and.include('And?');
  });

  it('carries a tool loop as an agent CLI runs it', async () => {
    const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object' } }];
    const first = await client.ask({ input: '[[sim:tool name=shell]]', store: false, tools });
    const calls = first.response!['output'] as readonly { type: string; call_id: string }[];
    const call = calls.find(({ type }) => type === 'function_call');
    const second = await client.ask({
      store: false,
      tools,
      previous_response_id: first.response?.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id, output: 'done' }],
      client_metadata: { installation: 'one' },
    });
    expect(second.response?.status).to.equal('completed');
    expect(sent()).to.include('tool_result');
  });

  it('refuses what is no response.create, and several streams on one connection', async () => {
    expect((await client.ask({ type: 'response.cancel' })).error?.message).to.match(/^type: /);
    expect((await client.ask({ input: 'Hi', stream_id: 's1' })).error?.message).to.match(/^stream_id: /);
    expect((await client.ask({ input: 'Hi', stream: false })).type).to.equal('response.completed');
  });
});
