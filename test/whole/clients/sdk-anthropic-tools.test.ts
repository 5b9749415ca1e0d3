import type Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { expect } from 'chai';
import { startPair, type Pair } from '../harness.js';
import { anthropicAt, lastRequest, modelCalls } from './sdk-clients.js';

type MessageParam = Anthropic.MessageParam;

const model = 'sonnet-5';

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const time: Anthropic.Tool = {
  name: 'get_time',
  input_schema: { type: 'object', properties: { zone: { enum: ['UTC', 'CET'] } }, required: ['zone'] },
};

function callsIn({ content }: Anthropic.Message): readonly Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use');
}

function textOf({ content }: { content: readonly { type: string; text?: unknown }[] }): string {
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

describe('the tool loop of the Messages SDK', () => {
  let pair: Pair;
  let client: Anthropic;
  before(async () => {
    pair = await startPair();
    client = anthropicAt(pair);
  });
  after(() => pair.close());

  const ways = {
    whole: (params: Anthropic.MessageCreateParamsNonStreaming) => client.messages.create(params),
    streamed: (params: Anthropic.MessageCreateParamsNonStreaming) =>
      client.messages.stream(params).finalMessage(),
  };

  for (const [way, create] of Object.entries(ways)) {
    describe(way, () => {
      it('goes from a call to its result to the answer', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather, please.' }];
        const params = { model, max_tokens: 1000, tools: [weather, time], messages };
        const asked = await create(params);
        expect(asked.stop_reason).to.equal('tool_use');
        const [call, ...others] = callsIn(asked);
        expect(others).to.deep.equal([]);
        expect(call?.name).to.equal('get_weather');
        expect(call?.input).to.have.all.keys('city');
        messages.push({ role: 'assistant', content: asked.content });
        messages.push({
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call!.id, content: '21 °C' }],
        });
        const answered = await create(params);
        expect(answered.stop_reason).to.equal('end_turn');
        expect(textOf(answered)).to.include('The tool answered: 21 °C');
      });

      it('has parallel calls answered together', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Both. [[sim:parallel n=3]]' }];
        const params = { model, max_tokens: 1000, tools: [weather, time], messages };
        const asked = await create(params);
        const calls = callsIn(asked);
        expect(calls.map(({ name }) => name)).to.deep.equal(['get_weather', 'get_time', 'get_weather']);
        expect(new Set(calls.map(({ id }) => id))).to.have.property('size', 3);
        messages.push({ role: 'assistant', content: asked.content });
        messages.push({
          role: 'user',
          content: calls.map(({ id, name }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: `done: ${name}`,
          })),
        });
        expect(textOf(await create(params))).to.include('The tool answered: done: get_weather');
      });

      it('thinks, calls, and has its thinking back in front of the call', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather.' }];
        const params = {
          model,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 } as const,
          tools: [weather],
          messages,
        };
        const asked = await create(params);
        expect(asked.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
        messages.push({ role: 'assistant', content: asked.content });
        messages.push({
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: callsIn(asked)[0]!.id, content: 'rain' }],
        });
        expect(textOf(await create(params))).to.include('The tool answered: rain');
        expect(lastRequest(pair).messages[1]?.content).to.deep.equal(asked.content);
      });

      it('has blocks of all kinds in the order in which they came', async () => {
        const { content } = await create({
          model,
          max_tokens: 4000,
          tools: [weather],
          messages: [{ role: 'user', content: '[[sim:interleave]]' }],
        });
        const round = ['text', 'thinking', 'tool_use'];
        expect(content.map(({ type }) => type)).to.deep.equal([...round, ...round]);
      });

      it('gets an empty input from a call without arguments', async () => {
        const message = await create({
          model,
          max_tokens: 1000,
          tools: [{ name: 'ping', input_schema: { type: 'object' } }],
          messages: [{ role: 'user', content: '[[sim:no-args name=ping]]' }],
        });
        expect(callsIn(message)[0]).to.deep.include({ name: 'ping', input: {} });
      });

      it('forces a tool', async () => {
        const message = await create({
          model,
          max_tokens: 1000,
          tools: [weather, time],
          tool_choice: { type: 'tool', name: 'get_time' },
          messages: [{ role: 'user', content: 'Hello!' }],
        });
        expect(callsIn(message)[0]?.name).to.equal('get_time');
        expect(callsIn(message)[0]?.input).to.have.property('zone').that.is.oneOf(['UTC', 'CET']);
      });

      it('forces none where the model cannot, and says so by a strict tool', async () => {
        await create({
          model: 'sonnet-5-5',
          max_tokens: 1000,
          tools: [weather, time],
          tool_choice: { type: 'tool', name: 'get_time' },
          messages: [{ role: 'user', content: 'Hello!' }],
        });
        const { tool_choice, tools } = lastRequest(pair);
        expect(tool_choice).to.deep.equal({ type: 'auto' });
        expect(tools?.find(({ name }) => name === 'get_time')).to.include({ strict: true });
        expect(tools?.find(({ name }) => name === 'get_weather')).not.to.have.property('strict');
      });

      it('searches the web with the tool of the gateway, and cites what it found', async () => {
        const message = await create({
          model,
          max_tokens: 1000,
          messages: [{ role: 'user', content: 'Search for koalas.' }],
        });
        const types = message.content.map(({ type }) => type);
        expect(types).to.include.members(['server_tool_use', 'web_search_tool_result', 'text']);
        const cited = message.content.flatMap((block) =>
          block.type === 'text' ? (block.citations ?? []) : [],
        );
        expect(cited.map((citation) => 'url' in citation && citation.url)).to.deep.equal([
          'https://example.com/simulated/1',
          'https://example.com/simulated/2',
        ]);
      });

      it('goes on itself with a turn that was paused', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Look it up. [[sim:pause]]' }];
        const params = { model, max_tokens: 1000, messages };
        const paused = await create(params);
        expect(paused.stop_reason).to.equal('pause_turn');
        messages.push({ role: 'assistant', content: paused.content });
        const resumed = await create(params);
        expect(resumed.stop_reason).to.equal('end_turn');
        expect(resumed.content[0]?.type).to.equal('web_search_tool_result');
      });
    });
  }
});

describe('the tool runner of the Messages SDK', () => {
  let pair: Pair;
  let client: Anthropic;
  beforeEach(async () => {
    pair = await startPair();
    client = anthropicAt(pair);
  });
  afterEach(() => pair.close());

  function tools(heard: unknown[]) {
    const answerWith = (answer: string) => (input: object) => {
      heard.push(input);
      return answer;
    };
    const cities = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
    return [
      betaTool({
        name: 'get_weather',
        description: 'The weather of a city.',
        inputSchema: cities,
        run: answerWith('21 °C'),
      }),
      betaTool({
        name: 'get_people',
        description: 'Who lives there.',
        inputSchema: cities,
        run: answerWith('koalas'),
      }),
    ];
  }

  const question = { role: 'user', content: 'Use get_weather.' } as const;

  for (const thread of [false, undefined]) {
    const way = thread === false ? 'the whole conversation' : 'a thread, which the upstream has forgotten';

    it(`calls the tool and asks again with ${way}`, async () => {
      const heard: unknown[] = [];
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 1000,
        messages: [question],
        tools: tools(heard),
        ...(thread === false && { thread }),
      });
      const message = await runner;
      expect(heard).to.have.length(1);
      expect(heard[0]).to.have.all.keys('city');
      expect(message.stop_reason).to.equal('end_turn');
      expect(textOf(message)).to.include('The tool answered: 21 °C');
      expect(lastRequest(pair).messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    });

    it(`calls the tool and asks again, streamed, with ${way}`, async () => {
      const heard: unknown[] = [];
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 1000,
        messages: [question],
        tools: tools(heard),
        stream: true,
        ...(thread === false && { thread }),
      });
      const stops: unknown[] = [];
      for await (const stream of runner) stops.push((await stream.finalMessage()).stop_reason);
      expect(stops).to.deep.equal(['tool_use', 'end_turn']);
      expect(heard).to.have.length(1);
    });
  }

  it('talks in a thread, which it begins anew where the upstream has forgotten it', async () => {
    const thread = client.beta.messages.thread({ model, max_tokens: 1000 });
    expect(textOf(await thread.send({ role: 'user', content: 'One.' }))).to.include('You said: One.');
    expect(textOf(await thread.send({ role: 'user', content: 'Two.' }))).to.include('You said: Two.');
    expect(lastRequest(pair).messages).to.have.length(3);
  });

  it('has what it told the upstream about its thread passed on, and the code of the refusal passed back', async () => {
    await client.beta.messages.toolRunner({
      model,
      max_tokens: 1000,
      messages: [question],
      tools: tools([]),
    });
    const threads = modelCalls(pair).map(({ body }) => (body as { thread?: { type: string } }).thread?.type);
    expect(threads).to.deep.equal(['create', 'continue', 'create']);
  });

  it('runs parallel tools in one turn', async () => {
    const heard: unknown[] = [];
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Both. [[sim:parallel n=2 times=1]]' }],
      tools: tools(heard),
      thread: false,
    });
    expect(textOf(await runner)).to.include('The tool answered: 21 °C');
    expect(heard).to.have.length(2);
    const results = lastRequest(pair).messages.at(-1)?.content;
    expect(results).to.have.length(2);
    expect(results).to.have.deep.nested.property('[1].content', 'koalas');
  });
});
