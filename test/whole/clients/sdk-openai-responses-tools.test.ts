import { expect } from 'chai';
import type OpenAI from 'openai';
import { startPair, type Pair } from '../harness.js';
import { lastRequest, modelCalls, openaiAt } from './sdk-clients.js';

type Responses = OpenAI.Responses.Response;
type Create = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;
type InputItem = OpenAI.Responses.ResponseInputItem;

const model = 'sonnet-5';

function itemsOf<Type extends OpenAI.Responses.ResponseOutputItem['type']>(
  { output }: Responses,
  type: Type,
) {
  return output.filter(
    (item): item is Extract<OpenAI.Responses.ResponseOutputItem, { type: Type }> => item.type === type,
  );
}

describe('the tool loop of the Responses SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  const ways = {
    whole: (params: Create): Promise<Responses> => client.responses.create(params),
    streamed: (params: Create): Promise<Responses> => client.responses.stream(params).finalResponse(),
  };

  for (const [way, create] of Object.entries(ways)) {
    describe(`with functions and custom tools, ${way}`, () => {
      const weather: OpenAI.Responses.FunctionTool = {
        type: 'function',
        name: 'get_weather',
        description: 'The weather of a city.',
        strict: true,
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      };
      const time: OpenAI.Responses.FunctionTool = {
        type: 'function',
        name: 'get_time',
        strict: false,
        parameters: null,
      };
      const patch: OpenAI.Responses.CustomTool = { type: 'custom', name: 'apply_patch' };

      it('goes from a call to its result to the answer', async () => {
        const input: InputItem[] = [{ role: 'user', content: 'Use get_weather.' }];
        const params: Create = { model, tools: [weather, time], input, store: false };
        const asked = await create(params);
        const [call, ...others] = itemsOf(asked, 'function_call');
        expect(others).to.deep.equal([]);
        expect(call).to.include({ name: 'get_weather', status: 'completed' });
        expect(call?.id).not.to.equal(call?.call_id);
        expect(JSON.parse(call!.arguments)).to.have.all.keys('city');
        input.push(...(asked.output as InputItem[])); // what comes out may go in
        input.push({ type: 'function_call_output', call_id: call!.call_id, output: '21 °C' });
        expect((await create(params)).output_text).to.include('The tool answered: 21 °C');
      });

      it('answers by previous_response_id, thinking included', async () => {
        const params = { model: 'haiku-5', tools: [weather], reasoning: { effort: 'low' } } as const;
        const asked = await create({ ...params, tools: [weather], input: 'Use get_weather.' });
        const [call] = itemsOf(asked, 'function_call');
        const answered = await create({
          ...params,
          tools: [weather],
          previous_response_id: asked.id,
          input: [{ type: 'function_call_output', call_id: call!.call_id, output: 'rain' }],
        });
        expect(answered.output_text).to.include('The tool answered: rain');
        expect(lastRequest(pair).thinking?.type).to.equal('enabled');
        expect(lastRequest(pair).messages[1]).to.have.nested.property('content[0].type', 'thinking');
      });

      it('has parallel calls answered together', async () => {
        const input: InputItem[] = [{ role: 'user', content: 'All. [[sim:parallel n=3]]' }];
        const params: Create = { model, tools: [weather, time], input };
        const asked = await create(params);
        const calls = itemsOf(asked, 'function_call');
        expect(calls.map(({ name }) => name)).to.deep.equal(['get_weather', 'get_time', 'get_weather']);
        input.push(...(asked.output as InputItem[])); // what comes out may go in
        for (const { call_id } of calls)
          input.push({ type: 'function_call_output', call_id, output: `of ${call_id}` });
        expect((await create(params)).output_text).to.include(`of ${calls[0]!.call_id}`);
        expect(lastRequest(pair).messages.at(-1)?.content).to.have.length(3);
      });

      it('calls a custom tool with text, and takes its output', async () => {
        const input: InputItem[] = [{ role: 'user', content: 'Use apply_patch.' }];
        const params: Create = { model, tools: [patch, weather], input };
        const asked = await create(params);
        const [call] = itemsOf(asked, 'custom_tool_call');
        expect(call?.name).to.equal('apply_patch');
        expect(call?.input).to.be.a('string').that.does.not.match(/^\{/);
        input.push(...(asked.output as InputItem[])); // what comes out may go in
        input.push({ type: 'custom_tool_call_output', call_id: call!.call_id, output: 'done' });
        expect((await create(params)).output_text).to.include('The tool answered: done');
      });

      it('has items of all kinds in the order in which they came', async () => {
        const { output } = await create({ model, tools: [weather], input: '[[sim:interleave]]' });
        const round = ['message', 'reasoning', 'function_call'];
        expect(output.map(({ type }) => type)).to.deep.equal([...round, ...round]);
      });

      it('may send all of it back, and the upstream has it in the same order', async () => {
        const input: InputItem[] = [{ role: 'user', content: '[[sim:interleave]]' }];
        const params: Create = {
          model,
          tools: [time],
          reasoning: { effort: 'high' },
          store: false,
          include: ['reasoning.encrypted_content'],
          input,
        };
        const asked = await create(params);
        input.push(...(asked.output as InputItem[])); // what comes out may go in
        for (const { call_id } of itemsOf(asked, 'function_call'))
          input.push({ type: 'function_call_output', call_id, output: 'done' });
        expect((await create(params)).output_text).to.include('The tool answered: done');
        const sent = lastRequest(pair).messages[1]!.content as readonly { type: string }[]; // items become blocks
        const round = ['text', 'thinking', 'tool_use'];
        expect(sent.map(({ type }) => type)).to.deep.equal(['thinking', ...round, ...round]);
      });

      it('gets what there is of a call that was cut, and may send it back', async () => {
        const input: InputItem[] = [{ role: 'user', content: 'Hello!' }];
        const long = {
          type: 'object',
          properties: { city: { type: 'string', minLength: 500 } },
          required: ['city'],
        };
        const params: Create = { model, tools: [{ ...weather, strict: false, parameters: long }], input };
        const cut = await create({ ...params, tool_choice: 'required', max_output_tokens: 30 });
        expect(cut.incomplete_details).to.deep.equal({ reason: 'max_output_tokens' });
        const [call] = itemsOf(cut, 'function_call');
        expect(call).to.include({ status: 'incomplete' });
        expect(call?.arguments).to.match(/^\{"city":"/);
        input.push(...(cut.output as InputItem[]), { role: 'user', content: 'Go on.' }); // what comes out may go in
        expect((await create(params)).output_text).to.match(/Go on\.$/);
      });

      it('forces a tool, or any, or none', async () => {
        const choices = {
          get_time: { type: 'function', name: 'get_time' },
          get_weather: 'required',
          nothing: 'none',
        } as const;
        for (const [name, tool_choice] of Object.entries(choices)) {
          const response = await create({ model, tools: [weather, time], tool_choice, input: 'Hello!' });
          expect(itemsOf(response, 'function_call')[0]?.name ?? 'nothing').to.equal(name);
        }
      });

      it('parses the arguments of strict calls', async () => {
        const params: Create = { model, tools: [weather], input: 'Use get_weather.' };
        const parsed =
          way === 'whole'
            ? await client.responses.parse(params)
            : await client.responses.stream(params).finalResponse();
        const [call] = itemsOf(parsed, 'function_call');
        expect(call).to.have.property('parsed_arguments').that.has.all.keys('city');
      });
    });

    describe(`with a web search, ${way}`, () => {
      it('shows the search and cites its sources in the text', async () => {
        const response = await create({
          model,
          tools: [{ type: 'web_search' }],
          input: 'Search for koalas.',
        });
        const [search] = itemsOf(response, 'web_search_call');
        expect(search).to.include({ status: 'completed' });
        expect(search?.action).to.deep.include({ type: 'search', query: 'Search for koalas.' });
        const parts = itemsOf(response, 'message').flatMap(({ content }) => content);
        const cited = parts.flatMap((part) => {
          if (part.type !== 'output_text') return [];
          return part.annotations.map((annotation) => ({ text: part.text, annotation }));
        });
        expect(cited).to.have.length(2);
        for (const { text, annotation } of cited) {
          if (annotation.type !== 'url_citation') throw new Error(`It cited by ${annotation.type}.`);
          expect(annotation.url).to.match(/^https:\/\/example\.com\/simulated\/[12]$/);
          const { start_index, end_index } = annotation;
          expect(text.slice(start_index, end_index)).to.match(/^A made-up passage about/);
        }
      });

      it('names the sources of the search where it asks for them', async () => {
        const response = await create({
          model,
          tools: [{ type: 'web_search' }],
          include: ['web_search_call.action.sources'],
          input: 'Search for koalas.',
        });
        const [search] = itemsOf(response, 'web_search_call');
        expect(search).to.have.deep.nested.property('action.sources', [
          { type: 'url', url: 'https://example.com/simulated/1' },
          { type: 'url', url: 'https://example.com/simulated/2' },
        ]);
      });

      it('has a paused turn continued by the gateway', async () => {
        const earlier = modelCalls(pair).length;
        const response = await create({ model, input: 'Look. [[sim:pause n=2]]' });
        expect(modelCalls(pair).length - earlier).to.equal(3);
        expect(response.status).to.equal('completed');
        expect(itemsOf(response, 'web_search_call').map(({ status }) => status)).to.deep.equal([
          'completed',
          'completed',
        ]);
        expect(response.output_text).to.match(/^I'll search for that\..*That is all it can say\.$/s);
      });
    });
  }
});
