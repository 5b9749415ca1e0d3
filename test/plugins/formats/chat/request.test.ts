import { expect } from 'chai';
import { allExtras, extrasOf, type SlotCall, type CatalogModel } from '@gw2api/gateway/plugin';
import { narrowedForMessages } from '@gw2api/gateway/plugin/upstream';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { toolNames } from '#plugins/formats/chat/tools.js';
import { contextWith, frozen } from '../contexts.js';
import { refusal } from '../refusals.js';
import { narrowed } from '../../../plugin/narrowing/narrowed.js';

const user = { role: 'user', content: 'Hi' };
const said = (text: string) => ({ type: 'text', text });

function decode(fields: object, model: Partial<CatalogModel> = {}) {
  return decodeChat(frozen({ model: 'm', messages: [user], ...fields }), contextWith({ id: 'm', ...model }));
}

function weather(fields: object = {}) {
  return { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' }, ...fields } };
}

function call(id: string, name: string, args = '{}') {
  return { id, type: 'function', function: { name, arguments: args } };
}

function thrown(fields: object) {
  return refusal(() => decode(fields));
}

function content(part: object) {
  return { messages: [{ role: 'user', content: [part] }] };
}

function calling(args: string) {
  return { messages: [{ role: 'assistant', tool_calls: [call('a', 'f', args)] }] };
}

describe('a Chat request', () => {
  describe('its messages', () => {
    it('keep the finished members of arguments that were cut, which is reported', () => {
      const path = 'messages[1].tool_calls[0].function.arguments';
      for (const [args, input] of [
        ['{"city":"Par', {}],
        ['{"cmd":"ls","cwd":"/tm', { cmd: 'ls' }],
        ['{x', {}],
      ] as const) {
        const [cut] = calling(args).messages;
        const answer = { role: 'tool', tool_call_id: 'a', content: 'Cut.' };
        const { request, dropped } = decode({ messages: [user, cut, answer] });
        expect(request.messages[1]!.content).to.deep.include({ type: 'tool_use', id: 'a', name: 'f', input });
        expect(dropped).to.deep.equal([path]);
      }
      const legacy = { role: 'assistant', function_call: { name: 'f', arguments: '{"a":1,' } };
      expect(decode({ messages: [user, legacy] }).dropped).to.deep.equal([
        'messages[1].function_call.arguments',
      ]);
    });

    it('have no input where the arguments are null', () => {
      const { request, dropped } = decode({ messages: [user, ...calling('null').messages] });
      expect(request.messages[1]!.content[0]).to.have.deep.property('input', {});
      expect(dropped).to.deep.equal([]);
    });

    it('make system text of system and developer messages, where they stand', () => {
      const { request } = decode({
        messages: [
          { role: 'system', content: 'a' },
          { role: 'developer', content: 'b' },
          user,
          { role: 'developer', content: [said('c'), said('d')] },
          { role: 'system', content: 'e' },
        ],
      });
      expect(request.system).to.deep.equal([said('a'), said('b')]);
      expect(request.messages).to.deep.equal([
        { role: 'user', content: [said('Hi')] },
        { role: 'system', content: [said('c'), said('d'), said('e')] },
      ]);
    });

    it('have each result right behind its call, and late system text after it', () => {
      const calls = { role: 'assistant', tool_calls: [call('a', 'f', '{}'), call('b', 'f', '{}')] };
      const { request } = decode({
        messages: [
          user,
          calls,
          { role: 'system', content: '10 tokens left' },
          { role: 'tool', tool_call_id: 'b', content: 'B' },
          user,
          { role: 'tool', tool_call_id: 'a', content: 'A' },
        ],
      });
      expect(request.messages.slice(2)).to.deep.equal([
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'A' },
            { type: 'tool_result', tool_use_id: 'b', content: 'B' },
          ],
        },
        { role: 'system', content: [said('10 tokens left')] },
        { role: 'user', content: [said('Hi')] },
      ]);
    });

    it('become one where neighbours have the same role', () => {
      const { request } = decode({
        messages: [
          user,
          user,
          { role: 'assistant', content: 'A' },
          { role: 'assistant', content: 'B' },
          user,
        ],
      });
      expect(request.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
      expect(request.messages[1]!.content).to.deep.equal([said('A'), said('B')]);
    });

    it('keep a blank last one of the user, so that the answer before it is not continued', () => {
      const answer = { role: 'assistant', content: 'Red' };
      for (const content of ['\n', '', [], null]) {
        const { request } = decode({ messages: [user, answer, { role: 'user', content }] });
        expect(request.messages).to.have.length(3);
        const reports: unknown[] = [];
        narrowedForMessages({
          request,
          isTranslated: true,
          report: (losses, options) => void reports.push(losses, options),
        } as SlotCall);
        expect(reports.slice(0, 2)).to.deep.equal([
          [{ path: 'messages[2]', kind: 'content' }],
          { reject: true },
        ]);
      }
      expect(
        decode({ messages: [user, answer, { role: 'user', content: '' }, user] }).request.messages,
      ).to.have.length(3);
    });

    it('keep blank texts and turns, of which each upstream takes what it can', () => {
      const { request } = decode({
        messages: [
          { role: 'user', content: [said(''), said('Hi'), said(' \n')] },
          { role: 'assistant', content: '' },
          user,
          { role: 'assistant', content: null },
        ],
      });
      expect(request.messages).to.deep.equal([
        { role: 'user', content: [said(''), said('Hi'), said(' \n')] },
        { role: 'assistant', content: [said('')] },
        { role: 'user', content: [said('Hi')] },
        { role: 'assistant', content: [said('')] },
      ]);
    });

    it('put tool results first, in one user message with what follows', () => {
      const { request } = decode({
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [call('a', 'f'), call('b', 'g', '{"x":1}')] },
          { role: 'tool', tool_call_id: 'a', content: 'A' },
          { role: 'user', content: 'and' },
          { role: 'tool', tool_call_id: 'b', content: [said('B')] },
        ],
        tools: [weather()],
      });
      expect(request.messages.slice(1)).to.deep.equal([
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
            { type: 'tool_use', id: 'b', name: 'g', input: { x: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'A' },
            { type: 'tool_result', tool_use_id: 'b', content: [said('B')] },
            said('and'),
          ],
        },
      ]);
    });

    it('bring a late result to its call', () => {
      const { request } = decode({
        messages: [
          { role: 'assistant', tool_calls: [call('a', 'f')] },
          user,
          { role: 'assistant', content: 'wait' },
          { role: 'tool', tool_call_id: 'a', content: 'A' },
          { role: 'assistant', content: 'done' },
        ],
      });
      expect(request.messages.slice(1)).to.deep.equal([
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'A' }, said('Hi')] },
        { role: 'assistant', content: [said('wait'), said('done')] },
      ]);
    });

    it('have the last of several results of a call, which is reported', () => {
      const { request, dropped } = decode({
        messages: [
          user,
          { role: 'assistant', tool_calls: [call('a', 'f'), call('b', 'g')] },
          { role: 'tool', tool_call_id: 'a', content: 'first' },
          { role: 'tool', tool_call_id: 'b', content: 'B' },
          { role: 'tool', tool_call_id: 'a', content: 'second' },
        ],
      });
      expect(request.messages[2]!.content).to.deep.equal([
        { type: 'tool_result', tool_use_id: 'a', content: 'second' },
        { type: 'tool_result', tool_use_id: 'b', content: 'B' },
      ]);
      expect(dropped).to.deep.equal(['messages[2]']);
    });

    it('have a result that answers no call as text, since every upstream refuses it otherwise', () => {
      const { request, dropped } = decode({ messages: [{ role: 'tool', tool_call_id: 'x', content: 'r' }] });
      expect(request.messages[0]!.content).to.deep.equal([{ type: 'text', text: 'Result of x: r' }]);
      expect(dropped).to.deep.equal(['messages[0]']);
    });

    it('keep the ids of calls, of which a Messages upstream gets valid ones that agree', () => {
      const decoded = decode({
        messages: [
          user,
          { role: 'assistant', tool_calls: [call('functions.f:0', 'f'), call('functions/f:0', 'f')] },
          { role: 'tool', tool_call_id: 'functions.f:0', content: 'A' },
        ],
      });
      const [, given] = decoded.request.messages;
      expect(given!.content).to.have.nested.property('[0].id', 'functions.f:0');
      const { request } = narrowed(decoded.request);
      const [, calls, results] = request.messages.map(
        ({ content }) => content as unknown as Record<string, string>[],
      );
      expect(calls![0]!['id']).to.match(/^[\w-]+$/);
      expect(calls![0]!['id']).to.equal(results![0]!['tool_use_id']).and.not.equal(calls![1]!['id']);
    });

    it('link legacy function calls and their results by position', () => {
      const { request } = decode({
        messages: [
          user,
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } },
          { role: 'function', name: 'f', content: '1' },
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"n":2}' } },
          { role: 'function', name: 'f', content: '2' },
        ],
        functions: [{ name: 'f' }],
      });
      expect(request.messages.slice(1)).to.deep.equal([
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '1' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_3', name: 'f', input: { n: 2 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_3', content: '2' }] },
      ]);
    });

    it('carry signed thinking back byte for byte, in front, and unsigned thinking not at all', () => {
      const text = 'a\ud800 "b" \n';
      const { request } = decode({
        messages: [
          user,
          {
            role: 'assistant',
            content: 'So',
            reasoning_content: 'not replayed',
            reasoning_details: [
              { type: 'reasoning.text', text, signature: 'c2ln', index: 0 },
              { type: 'reasoning.encrypted', data: 'ZGF0YQ==' },
              { type: 'reasoning.text', text: 'unsigned' },
              { type: 'reasoning.encrypted', data: 'foreign', format: 'openai-responses-v1' },
              { type: 'reasoning.summary', summary: 'x' },
            ],
          },
        ],
      });
      expect(request.messages[1]!.content).to.deep.equal([
        { type: 'thinking', thinking: text, signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'ZGF0YQ==' },
        said('So'),
      ]);
    });

    it('keep a turn of nothing but thinking', () => {
      const reasoning_details = [{ type: 'reasoning.text', text: 't', signature: 's' }];
      const { request } = decode({ messages: [user, { role: 'assistant', reasoning_details }, user] });
      const thinking = { type: 'thinking', thinking: 't', signature: 's' };
      expect(request.messages[1]).to.deep.equal({ role: 'assistant', content: [thinking] });
    });

    it('carry images and documents', () => {
      const { request, dropped } = decode({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA', detail: 'high' } },
              { type: 'image_url', image_url: 'https://x.example/a.png' },
              { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' } },
              { type: 'file', file: { file_data: 'CCCC', filename: 'b.PDF' } },
              { type: 'file', file: { file_data: 'data:text/csv;base64,YSxi' } },
            ],
          },
        ],
      });
      const pdf = { type: 'base64', media_type: 'application/pdf' };
      expect(request.messages[0]!.content).to.deep.equal([
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' },
          detail: 'high',
        },
        { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
        { type: 'document', source: { ...pdf, data: 'BBBB' }, title: 'a.pdf' },
        { type: 'document', source: { ...pdf, data: 'CCCC' }, title: 'b.PDF' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
      ]);
      expect(dropped).to.deep.equal([]);
    });

    it('keep images in tool results', () => {
      const image_url = { url: 'https://x.example/a.png' };
      const { request } = decode({
        messages: [
          user,
          { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f' } }] },
          { role: 'tool', tool_call_id: 'a', content: [said('x'), { type: 'image_url', image_url }] },
        ],
      });
      expect(request.messages[2]!.content).to.deep.equal([
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [said('x'), { type: 'image', source: { type: 'url', ...image_url } }],
        },
      ]);
    });

    it('keep a refusal', () => {
      const { request, dropped } = decode({
        messages: [user, { role: 'assistant', content: null, refusal: 'No.' }],
      });
      expect(request.messages[1]!.content).to.deep.equal([said('No.')]);
      expect(dropped).to.deep.equal([]);
    });

    it('keep who of several people, or agents, has spoken, though Messages joins them', () => {
      const { request, dropped } = decode({
        messages: [
          { role: 'system', name: 'host', content: 's' },
          { ...user, name: 'ann' },
          { ...user, name: 'bob' },
          user,
          { role: 'assistant', name: 'cy', content: null, tool_calls: [call('a', 'f')] },
        ],
      });
      expect(request.messages.map(({ content }) => content.length)).to.deep.equal([3, 1]);
      expect(allExtras(request)).to.deep.equal([
        { place: 'system[0]', extras: { name: 'host' } },
        { place: 'messages[0].content[0]', extras: { name: 'ann' } },
        { place: 'messages[0].content[1]', extras: { name: 'bob' } },
        { place: 'messages[1].content[0]', extras: { name: 'cy' } },
      ]);
      expect(dropped).to.deep.equal([]);
    });

    it('keep cache markers: on parts, on messages, and the other vendor’s', () => {
      const marker = { cache_control: { type: 'ephemeral', ttl: '1h' } };
      const { request } = decode({
        messages: [
          { role: 'system', content: [{ ...said('s'), ...marker }] },
          { role: 'user', content: [said('a'), said('b')], ...marker },
          { role: 'user', content: [{ ...said('c'), prompt_cache_breakpoint: { mode: 'explicit' } }] },
        ],
      });
      expect(request.system).to.deep.equal([{ ...said('s'), ...marker }]);
      expect(request.messages[0]!.content).to.deep.equal([
        said('a'),
        { ...said('b'), ...marker },
        { ...said('c'), cache_control: { type: 'ephemeral' } },
      ]);
    });

    it('keep the latest four cache markers, for the upstream takes no more', () => {
      const part = { ...said('x'), prompt_cache_breakpoint: {} };
      const { request } = decode({
        messages: [{ role: 'user', content: [part, part, part, part, part, part] }],
      });
      const marks = (request.messages[0]!.content as object[]).map((block) => 'cache_control' in block);
      expect(marks).to.deep.equal([false, false, true, true, true, true]);
    });
  });

  it('has images of data URLs in any case', () => {
    const image_url = { url: 'DATA:Image/PNG;BASE64,AAAA' };
    const content = [{ type: 'image_url', image_url }];
    expect(decode({ messages: [{ role: 'user', content }] }).request.messages[0]!.content).to.deep.equal([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
  });

  describe('its tools', () => {
    it('have the parameters that the caller gave them, whoever receives them', () => {
      for (const parameters of [
        { properties: { a: { type: 'string' } } },
        { $ref: '#/$defs/a', $defs: {} },
      ]) {
        const { request } = decode({ tools: [{ type: 'function', function: { name: 'f', parameters } }] });
        expect(request.tools).to.deep.equal([{ name: 'f', input_schema: parameters }]);
      }
    });

    it('are functions and custom tools, which take text', () => {
      const grammar = { syntax: 'lark', definition: 'start: "x"' };
      const { request, dropped } = decode({
        tools: [
          weather({ description: 'Weather', cache_control: { type: 'ephemeral' } }),
          { type: 'function', function: { name: 'bare', strict: false } },
          { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar } } },
          { type: 'mystery' },
        ],
      });
      expect(request.tools).to.deep.equal([
        {
          name: 'get_weather',
          description: 'Weather',
          input_schema: { type: 'object' },
          cache_control: { type: 'ephemeral' },
        },
        { name: 'bare', input_schema: { type: 'object', properties: {} }, strict: false },
        {
          name: 'patch',
          input_schema: {
            type: 'object',
            properties: {
              input: { type: 'string', description: 'Text that follows this lark grammar:\nstart: "x"' },
            },
            required: ['input'],
            additionalProperties: false,
          },
        },
      ]);
      expect(dropped).to.deep.equal(['tools[2].custom.format', 'tools[3]']);
    });

    it('have names that the upstream takes, and are found again by them', () => {
      const names = ['ok_name-1', 'with.dot', 'with dot', 'x'.repeat(200)];
      const body = { tools: names.map((name) => weather({ name })) };
      const upstream = decode(body).request.tools!.map(({ name }) => name);
      for (const name of upstream) expect(name).to.match(/^[a-zA-Z0-9_-]{1,128}$/);
      const found = toolNames({ model: 'm', messages: [], ...body });
      expect(upstream.map((name) => found.get(name)!.name)).to.deep.equal(names);
      expect(upstream[0]).to.equal('ok_name-1');
    });

    it('are found again as what they are', () => {
      const body = { tools: [{ type: 'custom', custom: { name: 'patch' } }], functions: [{ name: 'f' }] };
      const found = toolNames({ model: 'm', messages: [], ...body });
      expect([...found.values()]).to.deep.equal([
        { kind: 'custom', name: 'patch' },
        { kind: 'function', name: 'f' },
      ]);
    });

    it('keep their schemas and strict as they came', () => {
      const open = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
      const { request, dropped } = decode({
        tools: [weather({ parameters: open, strict: true }), weather({ name: 'lax', parameters: open })],
      });
      expect(request.tools![0]).to.deep.include({ strict: true, input_schema: open });
      expect(request.tools![1]!.input_schema).to.deep.equal(open);
      expect(request.tools![1]).not.to.have.property('strict');
      expect(dropped).to.deep.equal([]);
    });

    it('are declared again from the history where the client left them out', () => {
      const { request } = decode({
        messages: [
          user,
          { role: 'assistant', tool_calls: [call('a', 'f'), call('b', 'f'), call('c', 'g')] },
          { role: 'tool', tool_call_id: 'a', content: 'A' },
        ],
      });
      expect(request.tools!.map(({ name }) => name)).to.deep.equal(['f', 'g']);
      expect(request.tool_choice).to.deep.equal({ type: 'none' });
    });

    for (const [choice, expected] of [
      ['none', { type: 'none' }],
      ['auto', { type: 'auto' }],
      ['required', { type: 'any' }],
      [
        { type: 'function', function: { name: 'get_weather' } },
        { type: 'tool', name: 'get_weather' },
      ],
      [
        { type: 'custom', custom: { name: 'get_weather' } },
        { type: 'tool', name: 'get_weather' },
      ],
    ] as const) {
      it(`are chosen by ${JSON.stringify(choice)} as ${JSON.stringify(expected)}`, () => {
        expect(decode({ tools: [weather()], tool_choice: choice }).request.tool_choice).to.deep.equal(
          expected,
        );
      });
    }

    it('stay, and an extra names those that are allowed', () => {
      const tools = [{ type: 'function', function: { name: 'b' } }];
      const { request } = decode({
        tools: [weather({ name: 'a' }), weather({ name: 'b' })],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } },
      });
      expect(request.tools!.map(({ name }) => name)).to.deep.equal(['a', 'b']);
      expect(request.tool_choice).to.deep.equal({ type: 'any' });
      expect(extrasOf(request)).to.deep.equal({ 'tool_choice.allowed_tools': ['b'] });
    });

    it('stay uncalled where none of them is allowed', () => {
      const tools = [{ type: 'function', function: { name: 'gone' } }];
      const choose = (mode: string) => ({
        tools: [weather()],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } },
      });
      expect(decode(choose('auto')).request).to.deep.include({ tool_choice: { type: 'none' } });
      expect(decode(choose('auto')).dropped).to.deep.equal([]);
      expect(decode(choose('required')).dropped).to.deep.equal(['tool_choice']);
    });

    it('are called one at a time where the client asks for it', () => {
      const one = { parallel_tool_calls: false, tools: [weather()] };
      expect(decode(one).request.tool_choice).to.deep.equal({
        type: 'auto',
        disable_parallel_tool_use: true,
      });
      expect(decode({ ...one, tool_choice: 'none' }).request.tool_choice).to.deep.equal({ type: 'none' });
    });

    it('follow the legacy function_call', () => {
      const functions = [{ name: 'f' }];
      expect(decode({ functions, function_call: { name: 'f' } }).request.tool_choice).to.deep.equal({
        type: 'tool',
        name: 'f',
      });
      expect(decode({ functions, function_call: 'none' }).request.tool_choice).to.deep.equal({
        type: 'none',
      });
    });

    it('report a choice among no tools', () => {
      const { request, dropped } = decode({ tool_choice: 'required' });
      expect(request).to.not.have.any.keys('tools', 'tool_choice');
      expect(dropped).to.deep.equal(['tool_choice']);
      expect(decode({ tool_choice: 'auto' }).dropped).to.deep.equal([]);
    });

    it('include web search where it is asked for and the model has it', () => {
      const web_search_options = {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { city: 'Rome', country: null } },
      };
      const found = decode({ web_search_options });
      expect(found.request.tools).to.deep.equal([
        {
          type: 'web_search_20250305',
          name: 'web_search',
          user_location: { type: 'approximate', city: 'Rome' },
        },
      ]);
      expect(found.dropped).to.deep.equal(['web_search_options.search_context_size']);
      const without = decode({ web_search_options }, { webSearch: false });
      expect(without.request.tools).to.equal(undefined);
      expect(without.dropped).to.deep.equal(['web_search_options']);
    });
  });

  describe('its settings', () => {
    it('have no limit where it is -1', () => {
      const unlimited = { max_tokens: -1, max_completion_tokens: -1, top_k: -1 };
      expect(decode(unlimited).request).to.not.have.any.keys('max_tokens', 'top_k');
      expect(decode({ max_tokens: 5, max_completion_tokens: -1 }).request.max_tokens).to.equal(5);
      expect(() => decode({ max_tokens: -2 })).to.throw(/^max_tokens/);
    });

    it('prefer max_completion_tokens over max_tokens', () => {
      expect(decode({ max_tokens: 5 }).request.max_tokens).to.equal(5);
      expect(decode({ max_tokens: 5, max_completion_tokens: 7 }).request.max_tokens).to.equal(7);
      expect(decode({ max_tokens: 5, max_completion_tokens: null }).request.max_tokens).to.equal(5);
      expect(decode({}).request).to.not.have.property('max_tokens');
    });

    it('take a stop of one or several, of which a Messages upstream gets those that are not blank', () => {
      expect(decode({ stop: 'x' }).request.stop_sequences).to.deep.equal(['x']);
      const { request, pathOf } = decode({ stop: ['x', '\n'] });
      expect(request.stop_sequences).to.deep.equal(['x', '\n']);
      const sent = narrowed(request);
      expect(sent.request.stop_sequences).to.deep.equal(['x']);
      expect(sent.losses.map((path) => pathOf?.(path))).to.deep.equal(['stop']);
    });

    it('ask for JSON, by a schema or any', () => {
      const schema = { type: 'object', properties: {}, additionalProperties: false };
      const bySchema = decode({
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
      });
      expect(bySchema.request.output_config).to.deep.equal({
        format: { type: 'json_schema', schema, name: 'x', strict: true },
      });
      expect(bySchema.dropped).to.deep.equal([]);
      const plain = decode({
        messages: [{ role: 'system', content: 's' }, user],
        response_format: { type: 'json_object' },
      });
      expect(plain.request.system).to.have.length(1);
      expect(plain.request.output_config).to.deep.equal({ format: { type: 'json_object' } });
      expect(decode({ response_format: { type: 'text' } }).request).to.not.have.property('output_config');
      for (const response_format of [
        { type: 'json_object', schema },
        { type: 'json_schema', schema },
      ])
        expect(decode({ response_format }).request.output_config).to.deep.equal({
          format: { type: 'json_schema', schema },
        });
    });

    it('keep the schema of the answer as it came', () => {
      const json_schema = { name: 'x', schema: { type: 'object', properties: {} }, description: 'd' };
      const { request, dropped } = decode({ response_format: { type: 'json_schema', json_schema } });
      expect(request.output_config!.format).to.deep.equal({ type: 'json_schema', ...json_schema });
      expect(dropped).to.deep.equal([]);
    });

    it('name the user, and keep the key of the cache for the slot', () => {
      const { request, dropped } = decode({ user: 'u', prompt_cache_key: 'k' });
      expect(request.metadata).to.deep.equal({ user_id: 'u' });
      expect(extrasOf(request)).to.deep.equal({ prompt_cache_key: 'k' });
      expect(dropped).to.deep.equal([]);
    });

    it('keep what Messages cannot say, and what nobody knows, for the upstream', () => {
      const kept = {
        logprobs: true,
        logit_bias: { 50256: -100 },
        seed: 1,
        presence_penalty: 0.5,
        prediction: { type: 'content', content: 'x' },
        store: true,
        metadata: { a: 'b' },
        verbosity: 'low',
        service_tier: 'flex',
        safety_identifier: 's',
        modalities: ['text', 'audio'],
        x_unknown: 0,
      };
      const { request, dropped } = decode(kept);
      expect(extrasOf(request)).to.deep.equal(kept);
      expect(dropped).to.deep.equal([]);
    });

    it('keep a field of any name as a field', () => {
      const { request } = decode(JSON.parse('{"__proto__":{"a":1}}') as object);
      expect(Object.keys(extrasOf(request))).to.deep.equal(['__proto__']);
    });

    it('say nothing of values that change nothing', () => {
      const idle = {
        n: 1,
        logprobs: false,
        top_logprobs: 0,
        logit_bias: {},
        seed: null,
        frequency_penalty: 0,
        presence_penalty: 0,
        store: false,
        metadata: {},
        service_tier: 'auto',
        modalities: ['text'],
        stream: false,
        stream_options: { include_usage: true },
        parallel_tool_calls: true,
        tools: null,
        stop: null,
      };
      const { pathOf: _, ...decoded } = decode(idle);
      expect(decoded).to.deep.equal({
        request: { model: 'm', messages: [{ role: 'user', content: [said('Hi')] }] },
        stream: false,
        dropped: [],
        intercept: undefined,
        answers: 1,
      });
    });

    it('make as many calls as choices are wanted', () => {
      expect(decode({ n: 3 }).intercept).to.be.a('function');
      expect(decode({ n: 1 }).intercept).to.equal(undefined);
    });
  });

  describe('that cannot be read is refused', () => {
    for (const [fields, message] of [
      [{ model: undefined }, 'model: is required'],
      [{ messages: [] }, 'messages: must have at least 1 item(s)'],
      [{ messages: [user, { role: 'user', content: 5 }] }, /^messages\[1\]\.content: must be a string/],
      [{ messages: [{ role: 'robot', content: 'x' }] }, /^messages\[0\]\.role: must be one of "system"/],
      [{ messages: [{ role: 'system', content: ' ' }] }, /^messages: must contain a/],
      [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id: is required'],
      [content({ type: 'text' }), 'messages[0].content[0].text: is required'],
      [
        content({ type: 'input_audio', input_audio: {} }),
        /^messages\[0\]\.content\[0\]: has the type "input_audio"/,
      ],
      [content({ type: 'file', file: { file_id: 'f' } }), /^messages\[0\]\.content\[0\]\.file\.file_id: /],
      [
        content({ type: 'image_url', image_url: { url: 'ftp://x' } }),
        /^messages\[0\]\.content\[0\]\.image_url: must be/,
      ],
      [calling('7'), /^messages\[0\]\.tool_calls\[0\]\.function\.arguments: must be the JSON text of an/],
      [
        calling('[1]'),
        /^messages\[0\]\.tool_calls\[0\]\.function\.arguments: must be the JSON text of an object/,
      ],
      [{ temperature: 3 }, 'temperature: must be at most 2'],
      [{ temperature: JSON.parse('1e400') }, 'temperature: must be a finite number or null, not Infinity'],
      [{ max_tokens: JSON.parse('1e400') }, 'max_tokens: must be a whole number or null, not Infinity'],
      [{ tool_choice: 'some' }, /^tool_choice: must be one of "none", "auto", "required"/],
      [{ tools: [{ type: 'function' }] }, 'tools[0].function: is required'],
    ] as const) {
      it(`: ${String(message)}`, async () => {
        const told = await thrown(fields);
        if (typeof message === 'string') expect(told).to.equal(message);
        else expect(told).to.match(message);
      });
    }
  });
});
