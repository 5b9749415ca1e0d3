import { expect } from 'chai';
import { withExtras, type Extras, type Message, type MessagesRequest } from '@gw2api/gateway/plugin';
import { capabilitiesOf, type ChatOptions } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';

const hi = [{ role: 'user', content: 'hi' }] as const;

function translate(
  extras: Extras,
  options: Partial<ChatOptions>,
  fields: Partial<MessagesRequest> = {},
): { readonly body: Readonly<Record<string, unknown>>; readonly lost: readonly string[] } {
  const request = withExtras({ model: 'm', messages: hi, ...fields }, extras);
  const capabilities = capabilitiesOf({ preset: 'generic', unsupported: 'report', ...options }, 'slot-a');
  const { body, losses } = chatRequest(request, capabilities);
  return { body, lost: losses.map(({ path }) => path) };
}

describe('the extras of a Chat request', () => {
  it('are sent to a server that takes them, and reported elsewhere', () => {
    const extras = { seed: 7, verbosity: 'low', min_p: 0.05, logit_bias: { 42: 7 } };
    const openai = translate(extras, { preset: 'openai' });
    expect(openai.body).to.deep.include({ seed: 7, verbosity: 'low', logit_bias: { 42: 7 } });
    expect(openai.lost).to.deep.equal(['extras.min_p']);
    const vllm = translate(extras, { preset: 'vllm' });
    expect(vllm.body).to.deep.include({ seed: 7, min_p: 0.05 }).and.not.have.property('verbosity');
    expect(vllm.lost).to.deep.equal(['extras.verbosity']);
  });

  it('for a cache and a monitor go where a server is known to take them', () => {
    const extras = { prompt_cache_key: 'k', prompt_cache_retention: '24h', safety_identifier: 's' };
    expect(translate(extras, { preset: 'openai' }).body).to.include(extras);
    for (const preset of ['mistral', 'openrouter', 'fireworks'] as const) {
      const { body, lost } = translate(extras, { preset });
      expect(body).to.include({ prompt_cache_key: 'k' }).and.not.have.any.keys(Object.keys(extras).slice(1));
      expect(lost).to.deep.equal(['extras.prompt_cache_retention', 'extras.safety_identifier']);
    }
    for (const preset of ['generic', 'azure-openai', 'groq', 'xai', 'ollama'] as const)
      expect(translate(extras, { preset }).lost).to.have.length(3);
  });

  it('of one server are not those of another', () => {
    const extras = { reasoning_format: 'parsed', reasoning_history: 'preserved', include_reasoning: false };
    const lostAt = (preset: ChatOptions['preset']) => translate(extras, { preset }).lost;
    expect(lostAt('groq')).to.deep.equal(['extras.reasoning_history', 'extras.include_reasoning']);
    expect(lostAt('fireworks')).to.deep.equal(['extras.reasoning_format', 'extras.include_reasoning']);
    expect(lostAt('vllm')).to.deep.equal(['extras.reasoning_format', 'extras.reasoning_history']);
  });

  it('go under the name that the server has for them', () => {
    const { body, lost } = translate({ seed: 7 }, { preset: 'mistral' });
    expect(body).to.include({ random_seed: 7 }).and.not.have.property('seed');
    expect(lost).to.deep.equal([]);
  });

  it('that choose a route, a price or objects of the account need the word of the slot', () => {
    const extras = { service_tier: 'flex', provider: { order: ['a'] }, store: true, metadata: { k: 'v' } };
    const { body, lost } = translate(extras, { preset: 'openrouter' });
    expect(body)
      .to.deep.include({ metadata: { k: 'v' } })
      .and.not.have.any.keys('service_tier', 'provider', 'store');
    expect(lost).to.deep.equal(['extras.service_tier', 'extras.provider', 'extras.store']);
    const told = translate(extras, { preset: 'openai', extraFields: Object.keys(extras) });
    expect(told.body).to.deep.include(extras);
    expect(told.lost).to.deep.equal([]);
  });

  it('never replace what the gateway itself sends', () => {
    const extras = { messages: [], stream: false, __proto__: null };
    const { body, lost } = translate(extras, { extraFields: ['messages', 'stream'] });
    expect(body).to.deep.include({ messages: hi, stream: true });
    expect(lost).to.deep.equal(['extras.messages', 'extras.stream']);
  });

  it('are hints where they speak to a cache or a monitor: their loss is no reason to refuse', () => {
    const request = withExtras({ model: 'm', messages: hi }, { prompt_cache_key: 'k', seed: 1, top_a: 1 });
    const { losses } = chatRequest(
      request,
      capabilitiesOf({ preset: 'generic', unsupported: 'report' }, 's'),
    );
    expect(losses).to.deep.equal([
      { path: 'extras.prompt_cache_key', kind: 'mend' },
      { path: 'extras.top_a', kind: 'setting' },
    ]);
  });

  describe('of its messages', () => {
    const text = (said: string, name?: string) =>
      withExtras({ type: 'text', text: said } as const, name === undefined ? {} : { name });
    const messages: readonly Message[] = [
      { role: 'user', content: [text('a', 'ann'), text('b', 'bob'), text('c', 'bob'), text('d')] },
      {
        role: 'assistant',
        content: [
          text('e', 'cy'),
          text('f', 'dee'),
          withExtras({ type: 'tool_use', id: 'c1', name: 'look', input: {} } as const, { name: 'dee' }),
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] },
    ];

    it('name who speaks: a message for each of them, in turn', () => {
      const { body, lost } = translate({}, { preset: 'openai' }, { system: [text('s', 'host')], messages });
      const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
      expect(JSON.parse(JSON.stringify(body['messages']))).to.deep.equal([
        { role: 'developer', content: 's', name: 'host' },
        { role: 'user', content: 'a', name: 'ann' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'b' },
            { type: 'text', text: 'c' },
          ],
          name: 'bob',
        },
        { role: 'user', content: 'd' },
        { role: 'assistant', content: 'e', name: 'cy' },
        { role: 'assistant', content: 'f', tool_calls: [call], name: 'dee' },
        { role: 'tool', tool_call_id: 'c1', content: 'r' },
      ]);
      expect(lost).to.deep.equal([]);
    });

    it('are reported to a server that may refuse a name, and the turns stay whole', () => {
      const { body, lost } = translate({}, { preset: 'groq' }, { messages });
      expect(body['messages']).to.have.length(3);
      expect(lost).to.deep.equal([
        'messages[0].content[0].extras.name',
        'messages[0].content[1].extras.name',
        'messages[0].content[2].extras.name',
        'messages[1].content[0].extras.name',
        'messages[1].content[1].extras.name',
      ]);
    });
  });
});
