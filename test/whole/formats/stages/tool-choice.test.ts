import { expect } from 'chai';
import { ask, startPair, type Pair } from '../../harness.js';
import { lastCall } from '../../kit.js';

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const look = { name: 'look', input_schema: schema };
const listen = { name: 'listen', input_schema: schema };
const closed = { ...schema, additionalProperties: false };

describe('tool_choice', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  async function sent(body: object, path = '/v1/messages') {
    const response = await pair.post(path, body, { 'x-gw-web-search': 'false' });
    expect(response.status, await response.clone().text()).to.equal(200);
    return lastCall(pair.simulator);
  }

  const forced = (model: string, tool_choice: object) =>
    ask('Hello!', { model, tools: [look, listen], tool_choice });

  for (const type of ['any', 'required'])
    it(`${type} is auto for sonnet-5-5, which has no forced choice`, async () => {
      const request = await sent(forced('sonnet-5-5', { type }));
      expect(request['tool_choice']).to.deep.equal({ type: 'auto' });
      expect(request['tools']).to.deep.equal([look, listen]);
    });

  it('that names a tool is auto for sonnet-5-5, and that tool is strict', async () => {
    const request = await sent(forced('sonnet-5-5', { type: 'tool', name: 'listen' }));
    expect(request['tool_choice']).to.deep.equal({ type: 'auto' });
    expect(request['tools']).to.deep.equal([look, { ...listen, strict: true, input_schema: closed }]);
  });

  it('keeps what it says of parallel calls', async () => {
    const request = await sent(forced('sonnet-5-5', { type: 'any', disable_parallel_tool_use: true }));
    expect(request['tool_choice']).to.deep.equal({ type: 'auto', disable_parallel_tool_use: true });
  });

  for (const choice of [{ type: 'any' }, { type: 'tool', name: 'look' }, { type: 'auto' }, { type: 'none' }])
    it(`${JSON.stringify(choice)} is what it is for sonnet-5, which keeps its guarantee`, async () => {
      const request = await sent(forced('sonnet-5', choice));
      expect(request['tool_choice']).to.deep.equal(choice);
      expect(request['tools']).to.deep.equal([look, listen]);
    });

  for (const choice of [{ type: 'auto' }, { type: 'none' }])
    it(`${JSON.stringify(choice)} is what it is for sonnet-5-5 too`, async () => {
      expect((await sent(forced('sonnet-5-5', choice)))['tool_choice']).to.deep.equal(choice);
    });

  it('is softened in Chat and Responses just the same', async () => {
    const chatTools = [{ type: 'function', function: { name: 'look', parameters: schema } }];
    const messages = [{ role: 'user', content: 'Hello!' }];
    for (const [path, body] of [
      ['/v1/chat/completions', { messages, tools: chatTools, tool_choice: 'required' }],
      [
        '/v1/chat/completions',
        { messages, tools: chatTools, tool_choice: { type: 'function', function: { name: 'look' } } },
      ],
      [
        '/v1/responses',
        {
          input: 'Hello!',
          tools: [{ type: 'function', name: 'look', parameters: schema }],
          tool_choice: 'required',
        },
      ],
    ] as const) {
      const request = await sent({ model: 'sonnet-5-5', ...body }, path);
      expect(request['tool_choice']).to.have.property('type', 'auto');
      const isNamed = typeof body.tool_choice === 'object';
      const [tool] = request['tools'] as [{ strict?: boolean }];
      expect(tool.strict === true).to.equal(isNamed);
    }
  });
});
