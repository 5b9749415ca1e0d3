import { RateLimitError, type default as Anthropic } from '@anthropic-ai/sdk';
import { expect } from 'chai';
import type OpenAI from 'openai';
import { startChatPair, type ChatPair } from './chat-slot.js';
import { anthropicAt, failureOf, lastRequest, openaiAt, pixel } from './sdk-clients.js';

const model = 'sonnet-5';
const input_schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const weather = { name: 'get_weather', description: 'The weather of a city.', input_schema };

describe('the SDK of Messages over a slot that speaks Chat', () => {
  let pair: ChatPair;
  let client: Anthropic;
  before(async () => {
    pair = await startChatPair();
    client = anthropicAt(pair);
  });
  after(() => pair.close());

  type Params = Omit<Anthropic.MessageCreateParamsNonStreaming, 'stream'>;
  const ways = {
    whole: (params: Params) => client.messages.create(params),
    streamed: (params: Params) => client.messages.stream(params).finalMessage(),
  };

  for (const [way, create] of Object.entries(ways))
    describe(way, () => {
      it('gets a text, its stop reason and its usage', async () => {
        const messages = [{ role: 'user' as const, content: 'Hello – “naïve” 🌍!' }];
        const answer = await create({ model, max_tokens: 100, messages });
        expect(answer.content.map(({ type }) => type)).to.deep.equal(['text']);
        expect(answer.stop_reason).to.equal('end_turn');
        expect(answer.usage.input_tokens).to.be.greaterThan(0);
        expect(answer.usage.output_tokens).to.be.greaterThan(0);
      });

      it('goes through a tool loop with its thinking, which comes back byte-exact', async () => {
        const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Use get_weather, please.' }];
        const thinking = { type: 'adaptive' as const };
        const effort = { effort: 'medium' as const };
        const params = {
          model,
          max_tokens: 4000,
          messages,
          tools: [weather],
          thinking,
          output_config: effort,
        };
        const first = await create(params);
        expect(first.stop_reason).to.equal('tool_use');
        expect(first.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
        const call = first.content.at(-1) as Anthropic.ToolUseBlock;
        expect(call.input).to.have.all.keys('city');
        const result = { type: 'tool_result' as const, tool_use_id: call.id, content: '21 °C' };
        messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [result] });
        const second = await create(params);
        expect(JSON.stringify(second.content)).to.include('The tool answered: 21 °C');
        const [, turn] = lastRequest(pair.behind).messages;
        const [thought] = turn!.content as readonly Record<string, unknown>[];
        const [own] = first.content as readonly Anthropic.ThinkingBlock[];
        expect(thought).to.deep.include({ type: 'thinking', thinking: own!.thinking });
        expect(thought!['signature']).to.not.equal(own!.signature);
      });

      it('gets parallel calls apart', async () => {
        const messages = [{ role: 'user' as const, content: 'All. [[sim:parallel n=3]]' }];
        const { content } = await create({ model, max_tokens: 1000, messages, tools: [weather] });
        const calls = content.filter(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlock[];
        expect(calls).to.have.length(3);
        expect(new Set(calls.map(({ id }) => id))).to.have.property('size', 3);
      });

      it('has its images seen', async () => {
        const source = { type: 'base64' as const, media_type: 'image/png' as const, data: pixel };
        const content = [
          { type: 'image' as const, source },
          { type: 'text' as const, text: 'See?' },
        ];
        await create({ model, max_tokens: 100, messages: [{ role: 'user', content }] });
        const [sent] = lastRequest(pair.behind).messages;
        expect(sent!.content).to.deep.include({ type: 'image', source });
      });
    });

  it('counts tokens by an estimate', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    expect((await client.messages.countTokens({ model, messages })).input_tokens).to.be.greaterThan(0);
  });

  it('gets a rate limit with its time', async () => {
    const messages = [{ role: 'user' as const, content: 'Hi [[sim:429 retry-after=7]]' }];
    const asked = client.messages.create({ model, max_tokens: 100, messages });
    const error = await failureOf(asked, RateLimitError);
    expect(error.headers.get('retry-after')).to.equal('7');
  });
});

describe('the SDK of Chat over a slot that speaks Chat', () => {
  let pair: ChatPair;
  let client: OpenAI;
  before(async () => {
    pair = await startChatPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: weather.name, parameters: input_schema } },
  ];

  it('goes through a tool loop', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Use get_weather, please.' },
    ];
    const { choices } = await client.chat.completions
      .stream({ model, tools, messages })
      .finalChatCompletion();
    const [{ finish_reason, message }] = choices as [(typeof choices)[0]];
    expect(finish_reason).to.equal('tool_calls');
    const [call] = message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    messages.push(message, { role: 'tool', tool_call_id: call!.id, content: '21 °C' });
    const answer = await client.chat.completions.create({ model, tools, messages });
    expect(answer.choices[0]!.message.content).to.include('The tool answered: 21 °C');
    expect(answer.usage?.prompt_tokens).to.be.greaterThan(0);
  });
});
