import { expect } from 'chai';
import { masterKey } from '../../harness.js';
import {
  chatStream,
  messagesStream,
  responsesStream,
  startKinds,
  type Sent,
  type SlotKinds,
} from '../../slots/upstreams/slot-kinds.js';

const input = '{"id":12345678901234567890,"f":1.0}';
const other = '{"f":2.50}';
const schema = { type: 'object', properties: { id: { type: 'integer' }, arguments: { type: 'object' } } };

/** The text with objects in place of the texts of arguments. */
function withObjects(json: string): string {
  return [input, other].reduce((text, each) => text.replaceAll(JSON.stringify(each), each), json);
}

/** A call of each kind of upstream, in which the arguments are an object. */
function answer({ url }: Sent): string {
  const [first, second] = [
    { name: 'look', arguments: input },
    { name: 'look', arguments: other },
  ];
  if (url.includes('/responses')) {
    const call = { type: 'function_call', status: 'completed' };
    const items = [first, second].map((each, at) => ({
      ...call,
      ...each,
      id: `fc_${at}`,
      call_id: `call_${at}`,
    }));
    return withObjects(responsesStream(items));
  }
  const calls = [first, second].map((called, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: called,
  }));
  return withObjects(chatStream([{ tool_calls: calls }], 'tool_calls'));
}

/** Bodies with a call in the history whose arguments are an object. */
const bodies: Readonly<Record<string, string>> = {
  '/v1/chat/completions': withObjects(
    JSON.stringify({
      model: 'sonnet-5',
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: input } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
        { role: 'assistant', function_call: { name: 'look', arguments: other } },
        { role: 'function', name: 'look', content: 'seen' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
    }),
  ),
  '/v1/responses': withObjects(
    JSON.stringify({
      model: 'sonnet-5',
      store: false,
      tools: [{ type: 'function', name: 'look', parameters: schema }],
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: input },
        { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
        { type: 'function_call', call_id: 'call_2', name: 'look', arguments: other },
        { type: 'function_call_output', call_id: 'call_2', output: 'seen' },
      ],
    }),
  ),
};

describe('numbers in arguments that are objects', () => {
  let kinds: SlotKinds;
  before(async () => {
    kinds = await startKinds({ without: ['persona-inject', 'web-search-tool'] });
    kinds.play(answer);
  });
  after(() => kinds.close());

  async function post(slot: string, path: string, body: string) {
    const headers = { 'content-type': 'application/json', 'x-api-key': masterKey, 'x-kind': slot };
    const response = await fetch(kinds.url + path, { method: 'POST', headers, body });
    return { text: await response.text(), sent: kinds.sent.at(-1)?.text ?? '' };
  }

  for (const [path, body] of Object.entries(bodies))
    for (const slot of ['generic', 'responses', 'messages'])
      it(`keep their bytes from ${path} to a ${slot} upstream`, async () => {
        const { sent } = await post(slot, path, body);
        for (const each of [input, other])
          expect([each, JSON.stringify(each)].some((text) => sent.includes(text)), sent).to.equal(true);
      });

  for (const slot of ['generic', 'responses'])
    it(`keep their bytes in the answer of a ${slot} upstream`, async () => {
      const messages = [{ role: 'user', content: 'Look.' }];
      const { text } = await post(slot, '/v1/messages', JSON.stringify({ model: 'sonnet-5', max_tokens: 9, messages }));
      expect(text).to.include(`"input":${input}`).and.include(`"input":${other}`);
    });

  it('keep their bytes where the keys have other names upstream', async () => {
    const renamed = '{"$top":12345678901234567890,"f":1.0}';
    kinds.play(() => {
      const deltas = [{ type: 'input_json_delta', partial_json: '{}' }];
      return messagesStream([{ start: { type: 'tool_use', id: 'call_2', name: 'look', input: {} }, deltas }], 'tool_use');
    });
    const parameters = { type: 'object', properties: { $top: { type: 'integer' }, f: { type: 'number' } } };
    const body = {
      model: 'sonnet-5',
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: renamed } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters } }],
    };
    const { sent } = await post('messages', '/v1/chat/completions', JSON.stringify(body));
    expect(sent).to.match(/"input":\{"[\w.-]+":12345678901234567890,"f":1\.0\}/);
  });
}); // prettier-ignore
