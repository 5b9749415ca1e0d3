import { expect } from 'chai';
import type { ContentBlock, MessagesResponse, Tool } from '@gw2api/gateway/plugin';
import { startChatPair, type ChatPair } from './chat-slot.js';
import { claudeCodeHeaders, claudeCodeRequest } from './claude-code.js';
import { codexHeaders, keptItems, message, turn, type Item } from './codex.js';
import { eventsIn } from '../harness.js';
import { lastRequest } from './sdk-clients.js';

describe('an agent over a slot that speaks Chat', () => {
  let pair: ChatPair;
  before(async () => {
    pair = await startChatPair();
  });
  after(() => pair.close());

  describe('Claude Code', () => {
    const ask = (fields: object) =>
      pair.post('/v1/messages?beta=true', claudeCodeRequest(fields), claudeCodeHeaders);

    it('has its request answered, and is told what cannot be said in Chat', async () => {
      const response = await ask({});
      expect(response.status).to.equal(200);
      const events = eventsIn(await response.text()) as readonly { readonly type: string }[];
      expect(events.at(-1)?.type).to.equal('message_stop');
      expect(response.headers.get('x-gw-dropped')).to.include('context_management');
      const { system, tools } = lastRequest(pair.behind);
      expect(JSON.stringify(system)).to.include('You are a command line tool.');
      expect((tools as readonly Tool[]).map(({ name }) => name)).to.include.members(['Tool0', 'Tool23']);
    });

    it('calls a tool, and goes on with its result and its thinking', async () => {
      const question = { role: 'user', content: 'Use Tool3 now.' };
      const first = (await (await ask({ messages: [question], stream: false })).json()) as MessagesResponse;
      expect(first.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
      const call = first.content.at(-1) as Extract<ContentBlock, { type: 'tool_use' }>;
      expect(call.name).to.equal('Tool3');
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'It worked.' };
      const messages = [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ];
      const second = await ask({ messages, stream: false });
      expect(await second.text()).to.include('The tool answered: It worked.');
      const [, asked] = lastRequest(pair.behind).messages;
      expect((asked!.content as readonly ContentBlock[]).map(({ type }) => type)).to.deep.equal([
        'thinking',
        'text',
        'tool_use',
      ]);
    });
  });

  describe('Codex', () => {
    async function ask(items: readonly Item[]): Promise<readonly Item[]> {
      const response = await pair.post('/v1/responses', turn(items), codexHeaders);
      expect(response.status).to.equal(200);
      return keptItems(await response.text());
    }

    for (const [name, output] of Object.entries({
      shell: { type: 'function_call_output', output: 'It worked.' },
      apply_patch: { type: 'custom_tool_call_output', output: 'It worked.' },
    }))
      it(`calls ${name}, and sends the call and its thinking back without ids`, async () => {
        const question = message('user', `Use ${name} now.`);
        const kept = await ask([question]);
        const made = kept.at(-1)!;
        expect(kept.map(({ type }) => type)).to.deep.equal(['reasoning', 'message', made['type']]);
        expect(made['name']).to.equal(name);
        const answer = await ask([question, ...kept, { ...output, call_id: made['call_id'] }]);
        expect(JSON.stringify(answer.at(-1))).to.include('The tool answered: It worked.');
        const [, asked] = lastRequest(pair.behind).messages;
        expect((asked!.content as readonly ContentBlock[])[0]).to.include({ type: 'thinking' });
      });
  });
});
