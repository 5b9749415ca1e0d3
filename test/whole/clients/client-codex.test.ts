import { expect } from 'chai';
import type { ContentBlock } from '@gw2api/gateway/plugin';
import { codexHeaders as headers, keptItems, message, turn, type Item } from './codex.js';
import { eventsIn, slotAt, startGateway, startPair, type GatewayUnderTest, type Pair } from '../harness.js';
import { lastRequest, modelCalls } from './sdk-clients.js';
import { SocketClient, type Message } from '../socket-client.js';

function blocksOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

describe('Codex', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  async function ask(items: readonly Item[], under: GatewayUnderTest = pair): Promise<readonly Item[]> {
    const response = await under.post('/v1/responses', turn(items), headers);
    expect(response.status).to.equal(200);
    return keptItems(await response.text());
  }

  it('has its system text, its environment and its question told apart', async () => {
    await ask([message('user', 'Hello!')]);
    const { system, messages, thinking, output_config } = lastRequest(pair);
    expect(blocksOf(system!).slice(1)).to.deep.equal([
      { type: 'text', text: 'You are a coding agent.' },
      { type: 'text', text: '<permissions>Ask first.</permissions>' },
      { type: 'text', text: 'About the tools whose names begin with "mcp__files__": Files on a server.' },
    ]);
    expect(messages.map(({ role }) => role)).to.deep.equal(['user']);
    expect(blocksOf(messages[0]!.content)).to.have.length(2);
    expect(thinking).to.deep.equal({ type: 'adaptive', display: 'summarized' });
    expect(output_config).to.deep.equal({ effort: 'medium' });
  });

  it('has each kind of its tools become one that the upstream knows, or reported', async () => {
    const response = await pair.post('/v1/responses', turn([message('user', 'Hello!')]), headers);
    await response.text();
    const sent = lastRequest(pair).tools ?? [];
    expect(sent.map(({ name }) => name)).to.deep.equal([
      'shell',
      'apply_patch',
      'mcp__files__read_file',
      'web_search',
    ]);
    expect(JSON.stringify(sent[1])).to.include('begin_patch hunk+ end_patch');
    const dropped = response.headers.get('x-gw-dropped')?.split(', ');
    expect(dropped).to.include.members(['tools[2]', 'text.verbosity', 'client_metadata']);
    expect(dropped).not.to.include('prompt_cache_key');
  });

  it('runs a tool loop over WebSocket, sending only what is new', async () => {
    const beta = { 'openai-beta': 'responses_websockets=2026-02-06' };
    const client = await SocketClient.open(pair, { headers: { ...headers, ...beta } });
    const calls = modelCalls(pair).length;
    const warm = await client.ask({ ...turn([]), generate: false });
    expect(modelCalls(pair)).to.have.length(calls);
    const next = (previous: Message, input: readonly Item[]) =>
      client.ask({ ...turn([]), input, previous_response_id: previous.response?.id });
    const asked = await next(warm, [message('user', '[[sim:tool name=shell]]')]);
    const call = (asked.response!['output'] as readonly Item[]).find(({ type }) => type === 'function_call');
    const done = await next(asked, [
      { type: 'function_call_output', call_id: call?.['call_id'], output: 'It worked.' },
    ]);
    expect(done.response?.status).to.equal('completed');
    const { messages } = lastRequest(pair);
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    const types = blocksOf(messages[1]!.content).map(({ type }) => type);
    expect(types).to.include('thinking').and.include('tool_use');
    await client.close();
  });

  const loops = {
    shell: {
      call: { type: 'function_call', name: 'shell' },
      output: { type: 'function_call_output', output: 'It worked.' },
    },
    apply_patch: {
      call: { type: 'custom_tool_call', name: 'apply_patch' },
      output: { type: 'custom_tool_call_output', output: 'It worked.' },
    },
    mcp__files__read_file: {
      call: { type: 'function_call', name: 'read_file', namespace: 'mcp__files' },
      output: {
        type: 'function_call_output',
        output: [{ type: 'input_text', text: 'It worked.' }],
      },
    },
  };

  for (const [name, { call, output }] of Object.entries(loops)) {
    it(`calls ${name}, and sends the call and its thinking back without ids`, async () => {
      const question = message('user', `Use ${name} now.`);
      const kept = await ask([question]);
      expect(kept.map(({ type }) => type)).to.deep.equal(['reasoning', 'message', call.type]);
      const made = kept.at(-1)!;
      expect(made).to.include(call);
      const answer = await ask([question, ...kept, { ...output, call_id: made['call_id'] }]);
      expect(JSON.stringify(answer.at(-1))).to.include('The tool answered: It worked.');
      const [, asked] = lastRequest(pair).messages;
      const [thought, text, use] = blocksOf(asked!.content);
      expect(thought).to.include({ type: 'thinking' });
      expect(text).to.include({ type: 'text' });
      expect(use).to.include({ type: 'tool_use', name });
    });
  }

  it('goes on for three turns with its thinking byte-exact in each', async () => {
    const items: Item[] = [];
    for (const text of ['One.', 'Two – “naïve” 🌍.', 'Three.']) {
      items.push(message('user', text));
      items.push(...(await ask(items)));
    }
    const thoughts = lastRequest(pair).messages.flatMap(({ content }) =>
      blocksOf(content).filter(({ type }) => type === 'thinking'),
    );
    expect(thoughts).to.have.length(2);
  });

  it('stays on one slot by its session, and reads the cache there', async () => {
    const slots = ['a', 'b', 'c'].map((id) =>
      slotAt(pair.simulator.url, { id, account: { kind: 'api-key', key: `key-${id}` } }),
    );
    const wide = await startGateway({ slots });
    try {
      const items: Item[] = [message('user', 'A first question.')];
      items.push(...(await ask(items, wide)), message('user', 'A second one.'));
      items.push(...(await ask(items, wide)), message('user', 'A third one.'));
      const response = await wide.post('/v1/responses', turn(items), headers);
      const events = eventsIn(await response.text()) as { type?: string; response?: Item }[];
      const keys = modelCalls(pair)
        .slice(-3)
        .map(({ credential }) => credential);
      expect(new Set(keys)).to.have.property('size', 1);
      const done = events.find(({ type }) => type === 'response.completed')?.response;
      expect(done).to.have.nested.property('usage.input_tokens_details.cached_tokens').that.is.above(100);
    } finally {
      await wide.close();
    }
  });
});
