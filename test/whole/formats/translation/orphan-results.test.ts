import { expect } from 'chai';
import { startKinds, type SlotKinds } from '../../slots/upstreams/slot-kinds.js';

const chat = '/v1/chat/completions';
const slots = ['generic', 'openai', 'responses', 'messages'];

describe('a history that no upstream takes as it is', () => {
  let kinds: SlotKinds;
  before(async () => {
    const without = ['persona-inject', 'web-search-tool', 'cache-ttl', 'max-tokens'];
    kinds = await startKinds({ presets: ['generic', 'openai'], without });
  });
  after(() => kinds.close());

  async function send(slot: string, path: string, body: object) {
    const response = await kinds.ask(slot, path, { model: 'sonnet-5', ...body });
    const answer = await response.text();
    const sent = kinds.sent.at(-1)?.text ?? '';
    return { status: response.status, answer, sent, dropped: response.headers.get('x-gw-dropped') };
  }

  describe('with results whose calls are gone', () => {
    const user = { role: 'user', content: 'Hi' };
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const orphan = { role: 'tool', tool_call_id: 'call_9', content: 'GONE' };
    const call = { id: 'call_9', type: 'function', function: { name: 'f', arguments: '{}' } };

    it('has them as text of the user, and reports that', async () => {
      const messages = [user, { role: 'assistant', content: 'Yes?' }, orphan];
      for (const slot of slots) {
        const { status, sent, dropped } = await send(slot, chat, { messages, tools });
        expect(status, slot).to.equal(200);
        expect(sent, slot)
          .to.include('Result of call_9: GONE')
          .and.not.match(/tool_result|tool_call_id|call_output/);
        expect(dropped, slot).to.equal('messages[2]');
      }
      const content = [
        { type: 'tool_result', tool_use_id: 'toolu_9', content: [{ type: 'text', text: 'GONE' }] },
      ];
      const parts = await send('messages', chat, { messages: [user, { role: 'user', content }], tools });
      expect(parts.sent).to.include('Result of toolu_9: GONE').and.not.include('tool_result');
    });

    it('keeps those that have one', async () => {
      const messages = [user, { role: 'assistant', tool_calls: [call] }, orphan];
      const { sent, dropped } = await send('messages', chat, { messages, tools });
      expect([sent.includes('"tool_use_id":"call_9"'), dropped]).to.deep.equal([true, null]);
    });
  });

  it('is refused where its last turn has nothing in it', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: [] },
    ];
    for (const slot of ['generic', 'responses']) {
      const { status, answer } = await send(slot, '/v1/messages', { messages, max_tokens: 9 });
      expect([status, answer.includes('messages[2].content: must have')]).to.deep.equal([400, true]);
    }
  });
});
