import { expect } from 'chai';
import type OpenAI from 'openai';
import { startPair, type Pair } from '../harness.js';
import { lastRequest, modelCalls, openaiAt } from './sdk-clients.js';

type Create = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;
type MessageParam = OpenAI.ChatCompletionMessageParam;
type FunctionCall = OpenAI.ChatCompletionMessageFunctionToolCall;

const model = 'sonnet-5';

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const time: OpenAI.ChatCompletionTool = { type: 'function', function: { name: 'get_time' } };
const patch: OpenAI.ChatCompletionTool = {
  type: 'custom',
  custom: {
    name: 'apply_patch',
    description: 'Changes files.',
    format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: /.+/' } },
  },
};

function functionCalls(message: OpenAI.ChatCompletionMessage | undefined): readonly FunctionCall[] {
  return (message?.tool_calls ?? []).filter((call) => call.type === 'function');
}

describe('the tool loop of the Chat SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  const ways = {
    whole: async (params: Create) => (await client.chat.completions.create(params)).choices[0]!,
    streamed: async (params: Create) =>
      (await client.chat.completions.stream(params).finalChatCompletion()).choices[0]!,
  };

  for (const [way, create] of Object.entries(ways)) {
    describe(way, () => {
      it('goes from a call to its result to the answer', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather, please.' }];
        const params = { model, tools: [weather, time], messages };
        const { finish_reason, message } = await create(params);
        expect(finish_reason).to.equal('tool_calls');
        const [call, ...others] = functionCalls(message);
        expect(others).to.deep.equal([]);
        expect(call?.function.name).to.equal('get_weather');
        expect(JSON.parse(call!.function.arguments)).to.have.all.keys('city');
        messages.push(message, { role: 'tool', tool_call_id: call!.id, content: '21 °C' });
        const answer = await create(params);
        expect(answer.finish_reason).to.equal('stop');
        expect(answer.message.content).to.include('The tool answered: 21 °C');
      });

      it('has parallel calls answered together', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'All. [[sim:parallel n=3]]' }];
        const params = { model, tools: [weather, time], messages };
        const { message } = await create(params);
        const calls = functionCalls(message);
        expect(calls.map((call) => call.function.name)).to.deep.equal([
          'get_weather',
          'get_time',
          'get_weather',
        ]);
        expect(message.content).to.equal(null);
        messages.push(message);
        for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: `of ${id}` });
        const answer = await create(params);
        expect(answer.message.content).to.include(`The tool answered: of ${calls[0]!.id}`);
        expect(lastRequest(pair).messages.at(-1)?.content).to.have.length(3);
      });

      it('gets one call where it forbids parallel ones', async () => {
        const { message } = await create({
          model,
          tools: [weather, time],
          parallel_tool_calls: false,
          messages: [{ role: 'user', content: 'All. [[sim:parallel n=3]]' }],
        });
        expect(message.tool_calls).to.have.length(1);
      });

      it('thinks, calls, and has its thinking back in front of the call', async () => {
        const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather.' }];
        const params: Create = { model: 'haiku-5', reasoning_effort: 'low', tools: [weather], messages };
        const { message } = await create(params);
        const [call] = functionCalls(message);
        expect(message).to.have.property('reasoning_details');
        messages.push(message, { role: 'tool', tool_call_id: call!.id, content: 'rain' });
        const answer = await create(params);
        expect(answer.message.content).to.include('The tool answered: rain');
        expect(lastRequest(pair).thinking?.type).to.equal('enabled');
        expect(lastRequest(pair).messages[1]).to.have.nested.property('content[0].type', 'thinking');
      });

      it('gets calls between text and thinking, each under an index of its own', async () => {
        const { message } = await create({
          model,
          tools: [weather],
          messages: [{ role: 'user', content: '[[sim:interleave]]' }],
        });
        expect(message.content).to.equal('Round 1 begins.Round 2 begins.');
        expect(functionCalls(message).map((call) => call.function.name)).to.deep.equal([
          'get_weather',
          'lookup',
        ]);
      });

      it('gets "{}" from a call without arguments', async () => {
        const { message } = await create({
          model,
          tools: [time],
          messages: [{ role: 'user', content: '[[sim:no-args name=get_time]]' }],
        });
        expect(functionCalls(message)[0]?.function.arguments).to.equal('{}');
      });

      it('forces a tool, or any, or none', async () => {
        const choices = {
          get_time: { type: 'function', function: { name: 'get_time' } },
          get_weather: 'required',
          nothing: 'none',
        } as const;
        for (const [name, tool_choice] of Object.entries(choices)) {
          const { message } = await create({
            model,
            tools: [weather, time],
            tool_choice,
            messages: [{ role: 'user', content: 'Hello!' }],
          });
          expect(functionCalls(message)[0]?.function.name ?? 'nothing').to.equal(name);
        }
      });

      it('leaves it to the model among the tools that it allows', async () => {
        const { message } = await create({
          model,
          tools: [weather, time],
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: {
              mode: 'required',
              tools: [{ type: 'function', function: { name: 'get_time' } }],
            },
          },
          messages: [{ role: 'user', content: 'Use get_weather.' }],
        });
        expect(functionCalls(message)[0]?.function.name).to.equal('get_time');
      });

      it('has the strict schema of a tool closed', async () => {
        const strict = {
          type: 'function',
          function: { ...weather.function, strict: true },
        } as const;
        const { message } = await create({
          model,
          tools: [strict],
          messages: [{ role: 'user', content: 'Use get_weather.' }],
        });
        expect(functionCalls(message)).to.have.length(1);
        const tool = lastRequest(pair).tools?.find(({ name }) => name === 'get_weather');
        expect(tool).to.include({ strict: true });
        expect(tool?.input_schema).to.include({ additionalProperties: false });
      });
    });
  }

  it('calls a custom tool with text, and takes its output', async () => {
    const messages: MessageParam[] = [{ role: 'user', content: 'Use apply_patch.' }];
    const params = { model, tools: [patch, weather], messages };
    const { message } = await ways.whole(params);
    const call = message.tool_calls?.[0];
    if (call?.type !== 'custom') throw new Error('It called no custom tool.');
    expect(call.custom).to.include({ name: 'apply_patch' });
    expect(call.custom.input).to.be.a('string').that.does.not.match(/^\{/);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: 'done' });
    const answer = await ways.whole(params);
    expect(answer.message.content).to.include('The tool answered: done');
    expect(lastRequest(pair).messages[1]).to.have.deep.nested.property('content[1].input', {
      input: call.custom.input,
    });
  });

  it('streams a custom call as the whole answer has it', async () => {
    const params: Create = {
      model,
      tools: [patch],
      messages: [{ role: 'user', content: 'Use apply_patch.' }],
    };
    const { message } = await ways.whole(params);
    const [whole] = message.tool_calls ?? [];
    const calls: { id?: string; type?: string; custom: { name?: string; input?: string } }[] = [];
    for await (const chunk of await client.chat.completions.create({ ...params, stream: true }))
      calls.push(...((chunk.choices[0]?.delta.tool_calls ?? []) as unknown as typeof calls)); // not in its types
    const { id, type, custom } = calls[0]!;
    const input = calls.map((call) => call.custom.input).join('');
    expect({ id, type, custom: { name: custom.name, input } }).to.deep.equal(whole);
  });

  it('speaks the older function_call both ways', async () => {
    const { function: definition } = weather;
    const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather.' }];
    const params: Create = { model, functions: [definition], messages };
    const { finish_reason, message } = await ways.whole(params);
    expect(finish_reason).to.equal('function_call');
    expect(message.function_call?.name).to.equal('get_weather');
    messages.push(message, { role: 'function', name: 'get_weather', content: '21 °C' });
    expect((await ways.whole(params)).message.content).to.include('The tool answered: 21 °C');
    const streamed = await ways.streamed({ ...params, messages: messages.slice(0, 1) });
    expect(streamed.message.function_call).to.deep.equal(message.function_call);
  });

  it('has the tools of its history declared where it sends none', async () => {
    const messages: MessageParam[] = [{ role: 'user', content: 'Use get_weather.' }];
    const { message } = await ways.whole({ model, tools: [weather], messages });
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: '21 °C' });
    const answer = await ways.whole({ model, messages });
    expect(answer.message.content).to.include('The tool answered: 21 °C');
    expect(lastRequest(pair).tool_choice).to.deep.equal({ type: 'none' });
  });
});

describe('runTools of the Chat SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  beforeEach(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  afterEach(() => pair.close());

  function runnable(heard: unknown[]) {
    const city = { type: 'string' } as const;
    const parameters = { type: 'object' as const, properties: { city }, required: ['city'] };
    const tool = (name: string, answer: string) => ({
      type: 'function' as const,
      function: {
        name,
        description: 'About a city.',
        parameters,
        parse: (text: string) => JSON.parse(text) as { city: string }, // so says the schema
        function: ({ city }: { city: string }) => {
          heard.push(city);
          return answer;
        },
      },
    });
    return [tool('get_weather', '21 °C'), tool('get_people', 'koalas')];
  }

  // The runner sends no field back that is not the vendor's, so that thinking is lost on the way.
  const thoughts = [
    { model, reasoning_effort: null },
    { model, reasoning_effort: 'high' },
    { model: 'haiku-5', reasoning_effort: 'high' },
  ] as const;

  for (const thought of thoughts) {
    it(`runs tools until there is an answer, with ${JSON.stringify(thought)}`, async () => {
      const heard: unknown[] = [];
      const runner = client.chat.completions.runTools({
        ...thought,
        messages: [{ role: 'user', content: 'Use get_weather.' }],
        tools: runnable(heard),
      });
      expect(await runner.finalContent()).to.include('The tool answered: 21 °C');
      expect(heard).to.have.length(1);
      expect(modelCalls(pair)).to.have.length(2);
    });

    it(`runs tools as a stream, with ${JSON.stringify(thought)}`, async () => {
      const heard: unknown[] = [];
      const runner = client.chat.completions.runTools({
        ...thought,
        stream: true,
        messages: [{ role: 'user', content: 'Use get_weather.' }],
        tools: runnable(heard),
      });
      expect(await runner.finalContent()).to.include('The tool answered: 21 °C');
      expect(heard).to.have.length(1);
    });
  }

  it('runs parallel tools', async () => {
    const heard: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: 'Both. [[sim:parallel n=2 times=1]]' }],
      tools: runnable(heard),
    });
    expect(await runner.finalContent()).to.include('The tool answered');
    expect(heard).to.have.length(2);
  });
});
