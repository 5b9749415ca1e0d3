import { expect } from 'chai';
import { withExtras } from '@gw2api/gateway/plugin';
import { GatewayError, type Message, type Tool } from '#src/plugin/index.js';
import { capabilitiesOf, type ChatOptions } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { presetNames, type PresetName } from '#plugins/upstreams/chat/presets.js';
import type { CallTerms } from '#plugins/upstreams/shared/call-terms.js';
import { translate } from './translate.js';

const closed = { type: 'object', properties: {}, additionalProperties: false };
const look: Tool = { name: 'look', description: 'Looks.', input_schema: closed, strict: true };
const see: Tool = { name: 'see' };

describe('a Chat request', () => {
  it('is a stream with its usage at the end, where the server takes that wish', () => {
    const { body } = translate({});
    expect(body).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(translate({}, { streamUsage: false }).body).not.to.have.property('stream_options');
  });

  it('limits the output by the field that the server knows, or not at all where the caller set no limit', () => {
    expect(translate({ max_tokens: 100 }).body).to.include({ max_tokens: 100 });
    const body = translate({ max_tokens: 100 }, { preset: 'openai' }).body;
    expect(body).to.include({ max_completion_tokens: 100 }).and.not.have.property('max_tokens');
    expect(translate({ max_tokens: 128_000 }).body).not.to.have.property('max_tokens');
    expect(translate({ max_tokens: 128_000 }, { maxTokens: 8192 }).body).to.include({ max_tokens: 8192 });
  });

  it('has the sampling of the caller, and top_k where the server takes it', () => {
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 40 };
    const { body, dropped } = translate(sampling);
    expect(body).to.include({ temperature: 0.5, top_p: 0.9 }).and.not.have.property('top_k');
    expect(dropped).to.deep.equal(['top_k']);
    expect(translate(sampling, { preset: 'vllm' }).body).to.include(sampling);
  });

  it('has as many stop sequences as the server takes', () => {
    const { body, dropped } = translate({ stop_sequences: ['a', 'b', 'c'] }, { maxStops: 2 });
    expect([body['stop'], dropped]).to.deep.equal([['a', 'b'], ['stop_sequences']]);
  });

  it('names the user where the server takes one, long names as a hash', () => {
    const user = (user_id: string) => translate({ metadata: { user_id } }, { preset: 'openai' }).body['user'];
    expect(user('u1')).to.equal('u1');
    expect(user(JSON.stringify({ session: 'x'.repeat(80) }))).to.match(/^[0-9a-f]{64}$/);
    expect(translate({ metadata: { user_id: 'u1' } }).body).not.to.have.property('user');
  });

  it('declares functions, strict ones where the server knows that', () => {
    const { body, dropped } = translate({ tools: [look, see] }, { strictTools: true });
    expect(body['tools']).to.deep.equal([
      {
        type: 'function',
        function: { name: 'look', description: 'Looks.', parameters: closed, strict: true },
      },
      { type: 'function', function: { name: 'see', parameters: { type: 'object', properties: {} } } },
    ]);
    expect(dropped).to.deep.equal([]);
    expect(translate({ tools: [look] }).dropped).to.deep.equal(['tools[0].strict']);
  });

  it('refuses a thread that the server would hold, in the words that clients know', () => {
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])
      expect(() => translate({ thread }))
        .to.throw(GatewayError)
        .that.deep.includes({ status: 400, details: { error_code: 'thread_unsupported_request' } });
    expect(translate({ thread: null }).dropped).to.deep.equal([]);
  });

  it('has the format that is asked for as output_format', () => {
    const format = { type: 'json_schema', schema: closed };
    const { body, dropped } = translate({ output_format: format }, { preset: 'openai' });
    expect(body).to.have.nested.property('response_format.json_schema.schema', format.schema);
    expect(dropped).to.deep.equal([]);
  });

  it('sends no strict with a schema that a server cannot be held to, and mends what it would refuse', () => {
    const input_schema = { type: 'object', properties: { a: { type: 'array' } } };
    const { body, losses } = translate({ tools: [{ ...look, input_schema }] }, { strictTools: true });
    expect(body['tools']).to.have.nested.property('[0].function.parameters.properties.a.items');
    expect(body['tools']).not.to.have.nested.property('[0].function.strict');
    expect(losses).to.deep.equal([
      { path: 'tools[0].input_schema', kind: 'mend' },
      { path: 'tools[0].strict', kind: 'setting' },
    ]);
  });

  it('leaves out what the grammar of a local server cannot express', () => {
    const a = { type: 'string', pattern: '^a', maxLength: 524_288 };
    const input_schema = { type: 'object', properties: { a } };
    const output_config = { format: { type: 'json_schema', schema: input_schema } } as const;
    for (const preset of ['llama-cpp', 'lm-studio'] as const) {
      const { body, dropped } = translate(
        { tools: [{ name: 'a', input_schema }], output_config },
        { preset },
      );
      expect(JSON.stringify(body)).to.not.match(/pattern|maxLength/);
      expect(dropped).to.deep.equal([
        'output_config.format.schema',
        'output_config.format.strict',
        'tools[0].input_schema',
      ]);
    }
    expect(JSON.stringify(translate({ tools: [{ name: 'a', input_schema }] }).body)).to.include('524288');
  });

  it('shortens names of tools that are too long, alike in tools, choice and history', () => {
    const name = `mcp__${'x'.repeat(80)}`;
    const use = { type: 'tool_use', id: 'c', name, input: {} } as const;
    const messages: readonly Message[] = [{ role: 'assistant', content: [use] }];
    const { body, names } = translate({ messages, tools: [{ name }], tool_choice: { type: 'tool', name } });
    const [tool] = body['tools'] as readonly [{ function: { name: string } }];
    const short = tool.function.name;
    expect(short).to.have.length.at.most(64);
    expect(names.own(short)).to.equal(name);
    expect(body['tool_choice']).to.deep.equal({ type: 'function', function: { name: short } });
    expect(JSON.stringify(body['messages'])).to.include(`"name":"${short}"`).and.not.include(name);
  });

  it('leaves out tools that a vendor runs, and reports them', () => {
    const { body, dropped } = translate({
      tools: [{ name: 'web_search', type: 'web_search_20250305' }, see],
    });
    expect(body['tools']).to.have.length(1);
    expect(dropped).to.deep.equal(['tools[0]']);
  });

  it('reports no tool that the gateway itself has added', () => {
    const search: Tool = { name: 'web_search', type: 'web_search_20250305' };
    const request = { model: 'm', messages: [], tools: [search, see] };
    const capabilities = capabilitiesOf({ preset: 'generic', unsupported: 'report' }, 'slot-a');
    const { body, losses } = chatRequest(request, capabilities, { addedTools: [search] });
    expect([body.tools, losses]).to.have.nested.property('[0].length', 1);
    expect(losses).to.deep.equal([]);
    expect(chatRequest(request, capabilities).losses).to.deep.equal([{ path: 'tools[0]', kind: 'setting' }]);
  });

  it('chooses tools by a word, by name, or by what it offers', () => {
    const tools = [look, see];
    const chosen = (type: 'auto' | 'any' | 'none' | 'tool', toolChoice: 'named' | 'words' | 'none') => {
      const choice = type === 'tool' ? ({ type, name: 'see' } as const) : ({ type } as const);
      const { body, dropped } = translate({ tools, tool_choice: choice }, { toolChoice, strictTools: true });
      return [body['tool_choice'], (body['tools'] as unknown[] | undefined)?.length, dropped];
    };
    expect(chosen('auto', 'named')).to.deep.equal(['auto', 2, []]);
    expect(chosen('any', 'named')).to.deep.equal(['required', 2, []]);
    expect(chosen('none', 'words')).to.deep.equal(['none', 2, []]);
    const byName = { type: 'function', function: { name: 'see' } };
    expect(chosen('tool', 'named')).to.deep.equal([byName, 2, []]);
    expect(chosen('tool', 'words')).to.deep.equal(['required', 1, []]);
    const mistral = translate(
      { tools: [see], tool_choice: { type: 'tool', name: 'see' } },
      { preset: 'mistral' },
    );
    expect(mistral.body['tool_choice']).to.deep.equal(byName);
    expect(chosen('none', 'none')).to.deep.equal([undefined, undefined, []]);
    expect(chosen('any', 'none')).to.deep.equal([undefined, 2, ['tool_choice']]);
  });

  it('names the tools that are allowed, or offers those alone to a server without such a list', () => {
    const allow = (
      names: readonly string[],
      toolChoice: 'allowed' | 'named',
      type: 'any' | 'auto' = 'any',
    ) => {
      const fields = { tools: [look, see], tool_choice: { type } } as const;
      const extras = { 'tool_choice.allowed_tools': names };
      const { body, dropped } = translate(withExtras(fields, extras), { toolChoice, strictTools: true });
      const tools = body['tools'] as readonly { function: { name: string } }[];
      return [tools.map((tool) => tool.function.name), body['tool_choice'], dropped];
    };
    const tools = [{ type: 'function', function: { name: 'see' } }];
    const listed = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode, tools } });
    expect(allow(['see'], 'allowed')).to.deep.equal([['look', 'see'], listed('required'), []]);
    expect(allow(['see'], 'allowed', 'auto')).to.deep.equal([['look', 'see'], listed('auto'), []]);
    expect(allow(['gone'], 'allowed')).to.deep.equal([['look', 'see'], 'none', ['tool_choice']]);
    expect(allow(['see'], 'named')).to.deep.equal([['see'], 'required', []]);
  });

  it('leaves out the choice of a tool that it leaves out', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const tools = [search, { name: 'note', input_schema: { type: 'object', properties: {} } }];
    for (const toolChoice of ['named', 'words'] as const) {
      const choice = { type: 'tool', name: 'web_search' } as const;
      const { body, dropped } = translate({ tools, tool_choice: choice }, { toolChoice });
      expect([body['tool_choice'], dropped]).to.deep.equal(['auto', ['tools[0]', 'tool_choice']]);
      expect(body['tools']).to.have.length(1);
    }
  });

  it('asks for one call at a time, where the server takes that wish', () => {
    const request = { tools: [see], tool_choice: { type: 'auto', disable_parallel_tool_use: true } } as const;
    expect(translate(request).body).to.include({ parallel_tool_calls: false });
    const { body, dropped } = translate(request, { parallelToolCalls: false });
    expect(body).not.to.have.property('parallel_tool_calls');
    expect(dropped).to.deep.equal(['tool_choice.disable_parallel_tool_use']);
  });

  it('asks for structured output by schema, else for JSON and the schema in words', () => {
    const schema = { ...closed, properties: { a: { type: 'string' } }, required: ['a'] };
    const request = { output_config: { format: { type: 'json_schema', schema } } } as const;
    expect(translate(request).body['response_format']).to.deep.equal({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    });
    const { body, dropped } = translate({ ...request, system: 'Be kind.' }, { preset: 'deepseek' });
    expect(body['response_format']).to.deep.equal({ type: 'json_object' });
    const [system] = body['messages'] as readonly [{ content: string }];
    expect(system.content)
      .to.match(/^Be kind\.\n\n/)
      .and.include(JSON.stringify(schema));
    expect(dropped).to.deep.equal(['output_config.format']);
  });

  it('asks for structured output as strictly as its caller, under the name that it gave', () => {
    const sent = (format: object, isTranslated: boolean) => {
      const given = { type: 'json_schema', name: 'my form', ...format } as const;
      const request = { model: 'm', messages: [], output_config: { format: given } };
      const capabilities = capabilitiesOf({ preset: 'openai', unsupported: 'report' }, 'slot-a');
      const { body, losses } = chatRequest(request, capabilities, { isTranslated });
      return { format: body['response_format'], losses };
    };
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    const lost = [{ path: 'output_config.format.strict', kind: 'setting' }];
    const format = (schema: object, more: object = {}) => ({
      type: 'json_schema',
      json_schema: { name: 'my_form', schema, ...more },
    });
    expect(sent({ schema: closed }, true)).to.deep.equal({ format: format(closed), losses: [] });
    expect(sent({ schema: closed, strict: true }, true).format).to.deep.equal(
      format(closed, { strict: true }),
    );
    expect(sent({ schema: closed, strict: false }, true).format).to.deep.equal(
      format(closed, { strict: false }),
    );
    expect(sent({ schema: open, strict: true }, true)).to.deep.equal({ format: format(open), losses: lost });
    expect(sent({ schema: closed }, false).format).to.deep.equal(format(closed, { strict: true }));
    expect(sent({ schema: open }, false)).to.deep.equal({ format: format(open), losses: lost });
  });

  it('asks for any JSON object where its caller wants just that', () => {
    const request = { output_config: { format: { type: 'json_object' } } } as const;
    const json = { type: 'json_object' };
    for (const preset of ['openai', 'deepseek'] as const)
      expect(translate(request, { preset }).body['response_format']).to.deep.equal(json);
    const { body, losses } = translate(request, { structuredOutput: 'none' });
    expect(JSON.stringify(body['messages'])).to.include('one valid JSON object');
    expect(losses).to.deep.equal([{ path: 'output_config.format', kind: 'mend' }]);
  });

  it('asks for thinking in the words of the server', () => {
    const asked = (fields: object, preset: PresetName) => {
      const { body, dropped } = translate(fields, { preset });
      const { reasoning_effort, reasoning, thinking } = body;
      return { reasoning_effort, reasoning, thinking, dropped };
    };
    const none = { reasoning_effort: undefined, reasoning: undefined, thinking: undefined, dropped: [] };
    const high = { output_config: { effort: 'high' }, thinking: { type: 'adaptive' } };
    const budget = { thinking: { type: 'enabled', budget_tokens: 2000 } };
    const off = { thinking: { type: 'disabled' } };
    expect(asked(high, 'openai')).to.deep.equal({ ...none, reasoning_effort: 'high' });
    const nearest = { ...none, reasoning_effort: 'low', dropped: ['thinking.budget_tokens'] };
    expect(asked(budget, 'openai')).to.deep.equal(nearest);
    expect(asked(off, 'openai')).to.deep.equal({ ...none, reasoning_effort: 'none' });
    const max = { output_config: { effort: 'max' } };
    expect(asked(max, 'openai')).to.deep.equal({ ...none, reasoning_effort: 'max' });
    const lowered = { reasoning_effort: 'high', dropped: ['output_config.effort'] };
    expect(asked(max, 'groq')).to.deep.equal({ ...none, ...lowered });
    expect(asked(high, 'openrouter')).to.deep.equal({ ...none, reasoning: { effort: 'high' } });
    expect(asked(budget, 'openrouter')).to.deep.equal({ ...none, reasoning: { max_tokens: 2000 } });
    const deepseek = { ...none, thinking: { type: 'enabled' }, reasoning_effort: 'high' };
    expect(asked(high, 'deepseek')).to.deep.equal(deepseek);
    expect(asked(off, 'deepseek')).to.deep.equal({ ...none, thinking: { type: 'disabled' } });
    expect(asked(high, 'generic').dropped).to.deep.equal(['output_config.effort']);
    expect(asked({ thinking: { type: 'adaptive' } }, 'generic')).to.deep.equal(none);
    expect(asked(off, 'generic').dropped).to.deep.equal(['thinking']);
  });

  it('reports thinking that goes on where it was to be off, unless the model never thinks', () => {
    const off = { thinking: { type: 'disabled' } } as const;
    const lost = (options: Partial<ChatOptions>, terms: CallTerms = {}) =>
      translate(off, options, terms).dropped;
    expect(lost({ reasoning: 'effort', efforts: ['low', 'high'] })).to.deep.equal(['thinking']);
    expect(lost({ preset: 'openai' }, { without: new Set(['effort']) })).to.deep.equal(['thinking']);
    expect(lost({ preset: 'openai' }, { profile: { thinking: 'none' } })).to.deep.equal([]);
  });

  it('reports what Chat has no field for', () => {
    const { dropped } = translate({
      context_management: { edits: [] },
      mcp_servers: [],
      service_tier: 'auto',
    });
    expect(dropped).to.deep.equal(['context_management']);
  });

  it('is refused, with the names of the fields, where the slot says so', () => {
    expect(() => translate({ top_k: 1, context_management: {} }, { unsupported: 'reject' }))
      .to.throw(GatewayError, 'top_k, context_management: cannot be expressed upstream.')
      .with.property('status', 400);
    expect(translate({ temperature: 1 }, { unsupported: 'reject' }).dropped).to.deep.equal([]);
  });

  it('is written for every preset', () => {
    for (const preset of presetNames)
      expect(translate({ system: 'Be brief.' }, { preset }).body['messages']).to.have.length(2);
  });
});
