import { expect } from 'chai';
import { withExtras } from '@gw2api/gateway/plugin';
import {
  GatewayError,
  type ContentBlock,
  type Message,
  type MessagesRequest,
  type Tool,
} from '#src/plugin/index.js';
import type { ResponsesSettings } from '#plugins/upstreams/responses/options.js';
import { responsesRequest } from '#plugins/upstreams/responses/request/responses-request.js';
import { reportTo } from '#plugins/upstreams/shared/losses/dropped.js';
import { sealReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { frozen } from '../../formats/contexts.js';

const defaults: ResponsesSettings = {
  encryptedReasoning: true,
  efforts: ['none', 'low', 'medium', 'high'],
  strictTools: true,
  files: true,
  promptCacheKey: false,
  vendor: 'slot-a',
  unsupported: 'report',
};

function translate(
  fields: Partial<MessagesRequest>,
  settings: Partial<ResponsesSettings> = {},
  isTranslated = false,
) {
  const request = frozen({ model: 'gpt', messages: [{ role: 'user', content: 'hi' } as const], ...fields });
  const translation = responsesRequest(request, { ...defaults, ...settings }, { isTranslated });
  reportTo({}, translation.losses, settings.unsupported);
  return { ...translation, dropped: translation.losses.map(({ path }) => path) };
}

const inputOf = (messages: readonly Message[]) => translate({ messages }).body.input;

const closed = { type: 'object', properties: {}, additionalProperties: false };
const look: Tool = { name: 'look', description: 'Looks.', input_schema: closed, strict: true };

describe('a Responses request', () => {
  it('has all tools, and names those that are allowed', () => {
    const allow = (names: readonly string[]) => {
      const fields = { tools: [look, { name: 'see' }], tool_choice: { type: 'auto' } } as const;
      return translate(withExtras(fields, { 'tool_choice.allowed_tools': names }));
    };
    const { body, dropped } = allow(['see']);
    expect(body['tools']).to.have.length(2);
    const tools = [{ type: 'function', name: 'see' }];
    expect(body['tool_choice']).to.deep.equal({ type: 'allowed_tools', mode: 'auto', tools });
    expect(dropped).to.deep.equal([]);
    const none = allow(['gone']);
    expect([none.body['tool_choice'], none.dropped]).to.deep.equal(['none', ['tool_choice']]);
  });

  it('has each output behind its calls, and late system text after it', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} }) as const;
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id }) as const;
    const input = inputOf([
      { role: 'assistant', content: [call('a'), call('b')] },
      { role: 'system', content: 'Mode: plan.' },
      { role: 'user', content: [result('a'), result('b'), { type: 'text', text: 'And?' }] },
    ]);
    expect(
      input.map((item) => ('call_id' in item ? item.call_id : 'role' in item && item.role)),
    ).to.deep.equal(['a', 'b', 'a', 'b', 'developer', 'user']);
  });

  it('says in words what a turn or a result held, where nothing else of it remains', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig' } as const;
    const references = [
      { type: 'tool_reference', tool_name: 'fetch' },
      { type: 'tool_reference', tool_name: 'find' },
    ] as never;
    const input = inputOf([
      { role: 'assistant', content: [thinking] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: references }] },
      { role: 'user', content: '' },
    ]);
    expect(input).to.deep.equal([
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: '[thinking left out: only the model that wrote it can read it]' },
        ],
      },
      { type: 'function_call_output', call_id: 'c', output: 'Loaded tools: fetch, find' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '' }] },
    ]);
  });

  it('leaves out the choice of a tool that it leaves out', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const tool_choice = { type: 'tool', name: 'web_search' } as const;
    const { body, dropped } = translate({ tools: [search, look], tool_choice });
    expect([body['tool_choice'], dropped]).to.deep.equal(['auto', ['tools[0]', 'tool_choice']]);
  });

  it('has the extras that the API takes, under its own paths, and reports the others', () => {
    const extras = {
      verbosity: 'low',
      metadata: { k: 'v' },
      truncation: 'auto',
      seed: 7,
      service_tier: 'flex',
    };
    const format = { type: 'json_schema', schema: closed } as const;
    const { body, dropped } = translate(withExtras({ output_config: { format } }, extras));
    expect(body).to.deep.include({ metadata: { k: 'v' }, truncation: 'auto' });
    expect(body['text']).to.have.keys('format', 'verbosity');
    expect(dropped).to.deep.equal(['extras.seed', 'extras.service_tier']);
    const told = translate(withExtras({}, extras), { extraFields: ['service_tier'] });
    expect(told.body).to.include({ service_tier: 'flex' });
  });

  it('has the identifier of a user that the caller names itself, and reports the user', () => {
    const { body, dropped } = translate(
      withExtras({ metadata: { user_id: 'u' } }, { safety_identifier: 'own' }),
    );
    expect(body).to.include({ safety_identifier: 'own' });
    expect(dropped).to.deep.equal(['metadata.user_id']);
  });

  it('reports who of several people spoke', () => {
    const content = [withExtras({ type: 'text', text: 'x' } as const, { name: 'ann' })];
    const { dropped } = translate({ messages: [{ role: 'user', content }] });
    expect(dropped).to.deep.equal(['messages[0].content[0].extras.name']);
  });

  it('is a stream that is not stored, with the reasoning encrypted', () => {
    expect(translate({ system: 'Be brief.' }).body).to.deep.equal({
      model: 'gpt',
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
    });
    expect(translate({}, { encryptedReasoning: false }).body).not.to.have.property('include');
  });

  it('has calls and their outputs as items, in the order of the conversation', () => {
    const items = inputOf([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'gone', is_error: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
    expect(items).to.deep.equal([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"it"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Error: gone' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
  });

  it('has images and documents, in outputs too', () => {
    const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } } as const;
    const pdf = { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } } as const;
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' };
    const items = inputOf([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [png] }, png, pdf] },
    ]);
    expect(items).to.deep.equal([
      { type: 'function_call_output', call_id: 'call_1', output: [image] },
      {
        type: 'message',
        role: 'user',
        content: [image, { type: 'input_file', file_url: 'https://a.example/b.pdf' }],
      },
    ]);
    const none = translate({ messages: [{ role: 'user', content: [pdf] }] }, { files: false });
    expect(none.dropped).to.deep.equal(['messages[0].content[0]']);
  });

  it('has the texts and images of documents that are made of blocks, and reports their other blocks', () => {
    const png = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const;
    const other = { type: 'redacted_thinking', data: 'x' } as const;
    const documentOf = (content: string | readonly ContentBlock[]): ContentBlock => ({
      type: 'document',
      title: 'Notes',
      source: { type: 'content', content },
    });
    const notes = documentOf([{ type: 'text', text: 'one' }, png, other]);
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: [documentOf('two')] } as const;
    const { body, dropped } = translate({ messages: [{ role: 'user', content: [result, notes] }] });
    expect(body.input).to.deep.equal([
      { type: 'function_call_output', call_id: 'call_1', output: 'Notes\ntwo' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Notes' },
          { type: 'input_text', text: 'one' },
          { type: 'input_image', image_url: 'https://a.example/b.png', detail: 'auto' },
        ],
      },
    ]);
    expect(dropped).to.deep.equal(['messages[0].content[1].source.content[2]']);
  });

  it('says of a failed call that it failed, before an image too', () => {
    const png = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const;
    const failed = (...content: readonly ContentBlock[]) => {
      const result = { type: 'tool_result', tool_use_id: 'call_1', content, is_error: true } as const;
      return (inputOf([{ role: 'user', content: [result] }])[0] as { output: readonly object[] }).output;
    };
    expect(failed(png)[0]).to.deep.equal({ type: 'input_text', text: 'Error' });
    expect(failed(png)).to.have.length(2);
    expect(failed({ type: 'text', text: 'Error: no display' }, png)).to.have.length(2);
    expect(failed({ type: 'text', text: 'no display' })).to.equal('Error: no display');
  });

  it('gives reasoning back to its own vendor without an id, and to no other', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
    const thought = (vendor: string) => ({
      type: 'thinking' as const,
      thinking: '',
      signature: sealReasoning({ vendor, data: item }),
    });
    const { id: _, ...sent } = item;
    const content = [thought('slot-a'), { type: 'tool_use', id: 'c', name: 'look', input: {} } as const];
    expect(inputOf([{ role: 'assistant', content }])[0]).to.deep.equal(sent);
    expect(inputOf([{ role: 'assistant', content: [thought('slot-b'), content[1]!] }])).to.have.length(1);
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' } as const;
    expect(inputOf([{ role: 'assistant', content: [signed, content[1]!] }])).to.have.length(1);
  });

  it('has system text of the conversation as a developer message', () => {
    expect(inputOf([{ role: 'system', content: 'Mode: plan.' }])).to.deep.equal([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Mode: plan.' }] },
    ]);
  });

  it('declares functions and chooses among them', () => {
    const tool_choice = { type: 'tool', name: 'look', disable_parallel_tool_use: true } as const;
    const { body, dropped } = translate({ tools: [look, { name: 'see' }], tool_choice });
    expect(body['tools']).to.deep.equal([
      { type: 'function', name: 'look', description: 'Looks.', parameters: closed, strict: true },
      { type: 'function', name: 'see', parameters: { type: 'object', properties: {} }, strict: false },
    ]);
    expect(body['tool_choice']).to.deep.equal({ type: 'function', name: 'look' });
    expect([body['parallel_tool_calls'], dropped]).to.deep.equal([false, []]);
    expect(translate({ tools: [look], tool_choice: { type: 'any' } }).body['tool_choice']).to.equal(
      'required',
    );
    const server = { name: 'web_search', type: 'web_search_20250305' };
    expect(translate({ tools: [server] }).dropped).to.deep.equal(['tools[0]']);
  });

  it('reports what a tool has besides, and of the request', () => {
    const tool = { ...look, input_examples: [{ at: 'it' }], defer_loading: true, cache_control: null };
    const { dropped } = translate({ tools: [tool], stop_sequences: ['END'] });
    expect(dropped).to.have.members(['tools[0].input_examples', 'tools[0].defer_loading', 'stop_sequences']);
  });

  it('refuses a thread that the server would hold, in the words that clients know', () => {
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])
      expect(() => translate({ thread }))
        .to.throw(GatewayError)
        .that.deep.includes({ status: 400, details: { error_code: 'thread_unsupported_request' } });
    expect(translate({ thread: null }).losses).to.deep.equal([]);
  });

  it('has the format that is asked for as output_format', () => {
    const format = { type: 'json_schema', schema: closed };
    const { body, losses } = translate({ output_format: format });
    expect(body['text']).to.have.nested.property('format.schema', format.schema);
    expect(losses).to.deep.equal([]);
  });

  it('says nothing of strict where its caller has left that to the server', () => {
    const tools = [
      { ...look, strict: null },
      { ...look, name: 'open', input_schema: { type: 'object' } },
    ];
    const { body, losses } = translate({ tools }, {}, true);
    expect(body['tools']).not.to.have.nested.property('[0].strict');
    expect(body['tools']).to.have.nested.property('[1].strict', false);
    expect(losses).to.deep.equal([
      { path: 'tools[1].input_schema', kind: 'mend' },
      { path: 'tools[1].strict', kind: 'setting' },
    ]);
  });

  it('asks for any JSON object where its caller wants just that', () => {
    const { body } = translate({ output_config: { format: { type: 'json_object' } } });
    expect(body['text']).to.deep.equal({ format: { type: 'json_object' } });
  });

  it('shortens names of tools that are too long, alike in tools, choice and history', () => {
    const name = `mcp__${'x'.repeat(80)}`;
    const use = { type: 'tool_use', id: 'c', name, input: {} } as const;
    const messages: readonly Message[] = [{ role: 'assistant', content: [use] }];
    const { body, names } = translate({ messages, tools: [{ name }], tool_choice: { type: 'tool', name } });
    const [tool] = body['tools'] as readonly [{ name: string }];
    expect(tool.name).to.have.length.at.most(64);
    expect(names.own(tool.name)).to.equal(name);
    expect(body['tool_choice']).to.deep.equal({ type: 'function', name: tool.name });
    expect(body.input[0]).to.include({ name: tool.name });
  });

  it('asks for thinking, its summary and structured output', () => {
    const schema = closed;
    const { body } = translate({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', format: { type: 'json_schema', schema } },
    });
    expect(body['reasoning']).to.deep.equal({ effort: 'high', summary: 'auto' });
    expect(body['text']).to.deep.equal({
      format: { type: 'json_schema', name: 'answer', schema, strict: true },
    });
    expect(translate({ output_config: { effort: 'max' } }).dropped).to.deep.equal(['output_config.effort']);
    const off = { thinking: { type: 'disabled' } } as const;
    expect(translate(off, { efforts: ['low'] }).dropped).to.deep.equal(['thinking']);
    expect(translate({ thinking: { type: 'disabled' } }).body['reasoning']).to.deep.equal({ effort: 'none' });
  });

  it('limits the output as far as a limit was set, and reports what it has no field for', () => {
    expect(translate({ max_tokens: 100 }).body).to.include({ max_output_tokens: 100 });
    expect(translate({ max_tokens: 1 }).body).to.include({ max_output_tokens: 16 });
    expect(translate({ max_tokens: 128_000 }).body).not.to.have.property('max_output_tokens');
    const lost = { stop_sequences: ['x'], top_k: 3, context_management: {} };
    expect(translate(lost).dropped).to.deep.equal(['top_k', 'stop_sequences', 'context_management']);
    expect(() => translate(lost, { unsupported: 'reject' })).to.throw(GatewayError, /^top_k, stop_sequences/);
  });
});
