import { expect } from 'chai';
import { BadRequestError, type default as OpenAI } from 'openai';
import { startPair, type Pair } from '../harness.js';
import { failureOf, lastRequest, modelCalls, openaiAt } from './sdk-clients.js';

const model = 'sonnet-5';

const conversation: OpenAI.Responses.ResponseInputItem[] = [
  { role: 'user', content: 'We launch on Tuesday.' },
  { role: 'assistant', content: 'Understood: Tuesday.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Tell support first.' }] },
];

describe('POST /v1/responses/compact', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  it('answers with the messages of the user and one sealed item', async () => {
    const compacted = await client.responses.compact({ model, input: conversation });
    expect(compacted.object).to.equal('response.compaction');
    expect(compacted.output.map(({ type }) => type)).to.deep.equal(['message', 'message', 'compaction']);
    expect(compacted.output[0]).to.deep.include({
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'We launch on Tuesday.' }],
    });
    expect(compacted.output[2]).to.have.property('encrypted_content').that.does.not.include('Tuesday');
    expect(new Set(compacted.output.map((item) => 'id' in item && item.id))).to.have.property('size', 3);
    expect(compacted.usage.total_tokens).to.equal(
      compacted.usage.input_tokens + compacted.usage.output_tokens,
    );
  });

  it('asks the model for a summary, with the instructions as its system text', async () => {
    await client.responses.compact({ model, input: conversation, instructions: 'Be brief.' });
    const { system, messages, tool_choice: choice } = lastRequest(pair);
    expect(JSON.stringify(system)).to.include('Be brief.');
    expect(JSON.stringify(messages.at(-1))).to.include('Summarize the conversation');
    expect(choice?.type ?? 'none').to.equal('none');
  });

  it('takes conversations whose tools it is not told', async () => {
    const compacted = await client.responses.compact({
      model,
      input: [
        ...conversation,
        { type: 'function_call', call_id: 'c1', name: 'tell', arguments: '{"whom":"support"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'told' },
      ],
    });
    expect(compacted.output.at(-1)).to.have.property('type', 'compaction');
    expect(lastRequest(pair).tools?.map((tool) => tool.name)).to.include('tell');
  });

  it('gives an item that is opened for the model where it is handed back', async () => {
    const { output } = await client.responses.compact({ model, input: conversation });
    const input = [...output, { role: 'user' as const, content: 'Go on.' }];
    await client.responses.create({ model, input: input as OpenAI.Responses.ResponseInput }); // what came out goes in
    const text = JSON.stringify(lastRequest(pair).messages);
    expect(text).to.include('Summary of the conversation so far').and.include('You said:');
    expect(text).to.include('We launch on Tuesday.').and.include('Go on.');
  });

  it('compacts what a stored response continues', async () => {
    const { id } = await client.responses.create({ model, input: 'Remember cobalt.' });
    const { output } = await client.responses.compact({ model, previous_response_id: id });
    expect(output.map(({ type }) => type)).to.deep.equal(['message', 'compaction']);
    expect(JSON.stringify(lastRequest(pair).messages)).to.include('You said: Remember cobalt.');
  });

  it('is never streamed, and answers without /v1 too', async () => {
    const answer = await pair.post('/responses/compact', { model, input: 'Hi', stream: true });
    expect(answer.headers.get('content-type')).to.include('application/json');
    expect(await answer.json()).to.have.property('object', 'response.compaction');
  });

  it('reports an item that another vendor has sealed', async () => {
    const input = [
      { type: 'compaction', encrypted_content: 'gAAAA' },
      { role: 'user', content: 'Hi' },
    ];
    const answer = await pair.post('/v1/responses', { model, input });
    expect(answer.headers.get('x-gw-dropped')).to.equal('input[0]');
  });

  it('refuses a body without a model, and one without a conversation', async () => {
    const count = modelCalls(pair).length;
    const nameless = await failureOf(
      client.responses.compact({ input: 'Hi' } as OpenAI.Responses.ResponseCompactParams),
      BadRequestError,
    );
    expect(nameless.message).to.match(/^400 model: /);
    const empty = await failureOf(client.responses.compact({ model }), BadRequestError);
    expect(empty.message).to.match(/^400 input: or previous_response_id is required/);
    expect(modelCalls(pair)).to.have.length(count);
  });

  it('says that GET does not take its path', async () => {
    const answer = await pair.get('/v1/responses/compact');
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.include('POST');
  });
});
