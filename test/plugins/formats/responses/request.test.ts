import { expect } from 'chai';
import { extrasOf } from '@gw2api/gateway/plugin';
import { isGatewayError, type CatalogModel } from '#src/plugin/index.js';
import type { FormatContext } from '#src/plugin/format/index.js';
import type { DocumentBlock, RedactedThinkingBlock, ThinkingBlock } from '#src/plugin/contract/messages.js';
import { itemId } from '#plugins/formats/responses/item.js';
import { sealReasoning } from '#plugins/formats/shared/reasoning.js';
import type { ResponsesBody } from '#plugins/formats/responses/body.js';
import { inputItems } from '#plugins/formats/responses/input.js';
import { decodeResponses } from '#plugins/formats/responses/request.js';
import { toolNames } from '#plugins/formats/responses/tools.js';
import { contextWith, frozen } from '../contexts.js';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { responsesRequest } from '#plugins/upstreams/responses/request/responses-request.js';
import { narrowed } from '../../../plugin/narrowing/narrowed.js';
import { refusal } from '../refusals.js';

const user = { role: 'user', content: 'Hi' };
const said = (text: string) => ({ type: 'text', text });
const thought: ThinkingBlock = { type: 'thinking', thinking: 'a\ud800 "b"', signature: 'c2ln' };

function decode(
  fields: object,
  model: Partial<CatalogModel> = {},
  context = contextWith({ id: 'm', ...model }),
) {
  return decodeResponses(frozen({ model: 'm', input: 'Hi', ...fields }), context);
}

async function messagesOf(input: unknown) {
  return (await decode({ input })).request.messages;
}

function call(callId: string, name: string, fields: object = {}) {
  return { type: 'function_call', call_id: callId, name, arguments: '{}', ...fields };
}

function output(callId: string, result: unknown = 'R') {
  return { type: 'function_call_output', call_id: callId, output: result };
}

function tool(name: string, fields: object = {}) {
  return { type: 'function', name, parameters: { type: 'object' }, ...fields };
}

function reasoning(encrypted_content: string | null) {
  return { type: 'reasoning', summary: [], encrypted_content };
}

describe('a Responses request', () => {
  describe('its input', () => {
    it('has the last of several outputs of a call, which is reported', async () => {
      const input = [user, call('c', 'look'), output('c', 'first'), output('c', 'second'), user];
      const { request, dropped } = await decode({ input });
      expect(request.messages[2]!.content).to.deep.equal([
        { type: 'tool_result', tool_use_id: 'c', content: 'second' },
        said('Hi'),
      ]);
      expect(dropped).to.deep.equal(['input[2]']);
    });

    it('has an output whose call is gone as text of the user, which is reported', async () => {
      const image = { type: 'input_image', image_url: 'https://x.example/a.png' };
      const orphan = output('c', [{ type: 'input_text', text: 'R' }, image]);
      const { request, dropped } = await decode({ input: [user, orphan] });
      expect(request.messages).to.deep.equal([
        {
          role: 'user',
          content: [
            said('Hi'),
            said('Result of c: R'),
            { type: 'image', source: { type: 'url', url: image.image_url } },
          ],
        },
      ]);
      expect(dropped).to.deep.equal(['input[1]']);
      const named = await messagesOf([{ ...output('c'), name: 'look' }]);
      expect(named[0]!.content).to.deep.equal([said('Result of look: R')]);
    });

    it('has plain reasoning as thinking that goes back as it came', async () => {
      const item = {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm.' }],
      };
      const { request } = await decode({ input: [user, item, call('c', 'look'), output('c')] });
      const [thought] = request.messages[1]!.content as readonly ThinkingBlock[];
      expect(thought).to.include({ type: 'thinking', thinking: 'Hm.' });
      const settings = { efforts: [], strictTools: true, files: true, promptCacheKey: false, vendor: 'a' };
      const { body } = responsesRequest(request, {
        ...settings,
        encryptedReasoning: true,
        keepAttribution: false,
        unsupported: 'report',
      });
      const { id: _, ...sent } = item;
      expect(body.input[1]).to.deep.equal(sent);
      const chat = (fields: object) =>
        chatRequest(request, capabilitiesOf({ preset: 'deepseek', unsupported: 'report', ...fields }, 'b'));
      expect(chat({}).body.messages[1]).to.include({ reasoning_content: 'Hm.' });
      expect(chat({ preset: 'llama-cpp' }).losses).to.deep.include({
        path: 'messages[1].content[0]',
        kind: 'content',
      });
      expect(narrowed(request).losses).to.deep.equal(['messages[1].content[0]']);
    });

    it('has files of text formats as text, by their type or else by their name', async () => {
      const file = (filename: string, data: string) => ({ type: 'input_file', filename, file_data: data });
      const sources = async (...content: readonly object[]) =>
        (await messagesOf([{ role: 'user', content }]))[0]!.content as readonly DocumentBlock[];
      const json = Buffer.from('{"a":1}').toString('base64');
      const blocks = await sources(
        file('a.json', `data:application/json;base64,${json}`),
        file('a.geo', `data:application/geo+json;base64,${json}`),
        file('a.ts', `data:application/octet-stream;base64,${json}`),
        file('a.md', json),
      );
      for (const { source } of blocks)
        expect(source).to.deep.equal({ type: 'text', media_type: 'text/plain', data: '{"a":1}' });
      const binary = await sources(file('a.json', 'data:application/octet-stream;base64,/w=='));
      expect(binary[0]!.source).to.include({ type: 'base64' });
    });

    it('is a string or messages with and without a type', async () => {
      const asText = await messagesOf('Hi');
      expect(asText).to.deep.equal([{ role: 'user', content: [said('Hi')] }]);
      expect(await messagesOf([user])).to.deep.equal(asText);
      expect(await messagesOf([{ type: 'message', ...user }])).to.deep.equal(asText);
      expect(
        await messagesOf([{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]),
      ).to.deep.equal(asText);
    });

    it('makes system text of instructions first, then of system and developer messages where they stand', async () => {
      const { request } = await decode({
        instructions: 'a',
        input: [{ role: 'developer', content: 'b' }, user, { role: 'system', content: 'c' }, user],
      });
      expect(request.system).to.deep.equal([said('a'), said('b')]);
      expect(request.messages).to.deep.equal([
        { role: 'user', content: [said('Hi')] },
        { role: 'system', content: [said('c')] },
        { role: 'user', content: [said('Hi')] },
      ]);
    });

    it('carries images and files', async () => {
      const [message] = await messagesOf([
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
            { type: 'input_file', file_url: 'https://x.example/a.pdf' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,BBBB', filename: 'b.pdf' },
          ],
        },
      ]);
      expect(message!.content).to.deep.equal([
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
          detail: 'auto',
        },
        { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
          title: 'b.pdf',
        },
      ]);
    });

    it('makes turns of calls and outputs', async () => {
      const messages = await messagesOf([
        user,
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me see' }] },
        call('a', 'f', { arguments: '{"x":1}' }),
        { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '*** Begin' },
        output('a', [{ type: 'input_text', text: 'A' }]),
        { type: 'custom_tool_call_output', call_id: 'b', output: 'B' },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      ]);
      expect(messages.slice(1)).to.deep.equal([
        {
          role: 'assistant',
          content: [
            said('Let me see'),
            { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
            { type: 'tool_use', id: 'b', name: 'patch', input: { input: '*** Begin' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [said('A')] },
            { type: 'tool_result', tool_use_id: 'b', content: 'B' },
          ],
        },
        { role: 'assistant', content: [said('No.')] },
      ]);
    });

    it('brings our own reasoning back byte for byte, and leaves other vendors’ out', async () => {
      const redacted: RedactedThinkingBlock = { type: 'redacted_thinking', data: 'ZGF0YQ==' };
      const [, answer] = await messagesOf([
        user,
        reasoning(sealReasoning(thought)),
        reasoning(sealReasoning(redacted)),
        reasoning('gAAAAABo'),
        reasoning(null),
        { role: 'assistant', content: 'So' },
      ]);
      expect(answer!.content).to.deep.equal([thought, redacted, said('So')]);
    });

    it('keeps the finished members of a call that was cut beside its output, which is reported', async () => {
      const cut = call('a', 'f', { arguments: '{"cmd":"ls","cwd":"/tm' });
      for (const item of [cut, { ...cut, status: 'incomplete' }]) {
        const { request, dropped } = await decode({ input: [user, item, output('a')] });
        const [, called, answered] = request.messages;
        expect(called!.content).to.deep.equal([
          { type: 'tool_use', id: 'a', name: 'f', input: { cmd: 'ls' } },
        ]);
        expect(answered!.content).to.deep.equal([{ type: 'tool_result', tool_use_id: 'a', content: 'R' }]);
        expect(dropped).to.deep.equal(['input[1].arguments']);
      }
    });

    it('leaves out and reports a call that was cut and has no output', async () => {
      const { request, dropped } = await decode({
        input: [user, call('a', 'f', { arguments: '{"x', status: 'incomplete' }), user],
      });
      expect(request.messages).to.have.length(1);
      expect(dropped).to.deep.equal(['input[1]']);
    });

    it('reports searches, and items of types that Messages lacks', async () => {
      const { request, dropped } = await decode({
        input: [
          user,
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} },
          { type: 'code_interpreter_call', id: 'ci_1' },
        ],
      });
      expect(request.messages).to.have.length(1);
      expect(dropped).to.deep.equal([{ path: 'input[1]', kind: 'mend' }, 'input[2]']);
    });
  });

  describe('its tools', () => {
    it('may stand in a namespace, which is a prefix upstream', async () => {
      const namespaced = {
        type: 'namespace',
        name: 'mcp__files',
        description: 'Files of the project.',
        tools: [tool('read'), { type: 'custom', name: 'patch' }, { type: 'mystery' }],
      };
      const fields = { tools: [tool('read'), namespaced] };
      const input = [user, call('a', 'read', { namespace: 'mcp__files' }), output('a')];
      const { request, dropped } = await decode({ ...fields, input });
      expect(request.tools!.map(({ name }) => name)).to.deep.equal([
        'read',
        'mcp__files__read',
        'mcp__files__patch',
      ]);
      expect(request.messages[1]!.content).to.deep.equal([
        { type: 'tool_use', id: 'a', name: 'mcp__files__read', input: {} },
      ]);
      expect(request.system).to.deep.equal([
        said('About the tools whose names begin with "mcp__files__": Files of the project.'),
      ]);
      expect(dropped).to.deep.equal(['tools[1].tools[2]']);
      const names = toolNames({ model: 'm', ...fields });
      expect(names.get('read')).to.deep.equal({ kind: 'function', name: 'read' });
      expect(names.get('mcp__files__patch')).to.deep.equal({
        kind: 'custom',
        name: 'patch',
        namespace: 'mcp__files',
      });
    });

    it('are found where a call names a namespace that they were not declared in', async () => {
      const input = [user, call('a', 'f', { namespace: 'f' }), output('a')];
      const { request } = await decode({ input, tools: [tool('f')] });
      expect(request.messages[1]!.content).to.deep.equal([
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
      ]);
    });

    it('may come with the input, and count once', async () => {
      const later = { type: 'additional_tools', role: 'developer', tools: [tool('f'), tool('g')] };
      const { request } = await decode({ input: [user, later], tools: [tool('f')] });
      expect(request.tools!.map(({ name }) => name)).to.deep.equal(['f', 'g']);
    });

    it('include web search with its places, domains and number of uses', async () => {
      const { request, dropped } = await decode({
        tools: [
          {
            type: 'web_search',
            filters: { allowed_domains: ['x.example'], blocked_domains: null },
            user_location: { type: 'approximate', country: 'IT', city: null },
            search_context_size: 'low',
            external_web_access: false,
          },
          { type: 'file_search' },
        ],
        max_tool_calls: 3,
      });
      expect(request.tools).to.deep.equal([
        {
          type: 'web_search_20250305',
          name: 'web_search',
          max_uses: 3,
          user_location: { type: 'approximate', country: 'IT' },
          allowed_domains: ['x.example'],
        },
      ]);
      expect(dropped).to.deep.equal([
        'tools[1]',
        'tools[0].search_context_size',
        'tools[0].external_web_access',
      ]);
    });

    it('are not searched with where the model cannot', async () => {
      const { request, dropped } = await decode({ tools: [{ type: 'web_search' }] }, { webSearch: false });
      expect(request).to.not.have.property('tools');
      expect(dropped).to.deep.equal(['tools[0]']);
    });

    for (const [choice, expected] of [
      ['required', { type: 'any' }],
      [
        { type: 'function', name: 'f' },
        { type: 'tool', name: 'f' },
      ],
      [
        { type: 'custom', name: 'f' },
        { type: 'tool', name: 'f' },
      ],
      [{ type: 'web_search_preview' }, { type: 'tool', name: 'web_search' }],
      [{ type: 'file_search' }, undefined],
    ] as const) {
      it(`are chosen by ${JSON.stringify(choice)} as ${JSON.stringify(expected)}`, async () => {
        const tools = [tool('f'), { type: 'web_search' }];
        const { request, dropped } = await decode({ tools, tool_choice: choice });
        expect(request.tool_choice).to.deep.equal(expected);
        expect(dropped).to.deep.equal(expected ? [] : ['tool_choice']);
      });
    }

    it('stay, and an extra names those that are allowed', async () => {
      const { request } = await decode({
        tools: [tool('f'), tool('g'), { type: 'web_search' }],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'g' }, { type: 'web_search' }, { type: 'mcp' }],
        },
      });
      expect(request.tools!.map(({ name }) => name)).to.deep.equal(['f', 'g', 'web_search']);
      expect(extrasOf(request)).to.deep.equal({ 'tool_choice.allowed_tools': ['g', 'web_search'] });
      expect(request.tool_choice).to.deep.equal({ type: 'auto' });
    });
  });

  describe('its settings', () => {
    it('ask for a schema, and report what has no counterpart', async () => {
      const schema = { type: 'object', properties: {}, additionalProperties: false };
      const { request, dropped } = await decode({
        text: { format: { type: 'json_schema', name: 'x', schema, strict: true }, verbosity: 'low' },
        max_output_tokens: 100,
        truncation: 'auto',
        include: [
          'reasoning.encrypted_content',
          'file_search_call.results',
          'web_search_call.action.sources',
        ],
        store: true,
        background: false,
        user: 'u',
      });
      expect(request).to.deep.include({
        max_tokens: 100,
        output_config: { format: { type: 'json_schema', schema, name: 'x', strict: true } },
        metadata: { user_id: 'u' },
      });
      expect(extrasOf(request)).to.deep.equal({ truncation: 'auto', verbosity: 'low' });
      expect(dropped).to.deep.equal(['include[1]']);
    });

    it('show the thinking where a summary is wanted', async () => {
      const shown = await decode({ reasoning: { effort: 'high', summary: 'auto' } });
      expect(shown.request.thinking).to.deep.equal({ type: 'adaptive', display: 'summarized' });
      expect(shown.dropped).to.deep.equal([]);
      const { request, dropped } = await decode({ reasoning: { summary: 'auto' } });
      expect(request).not.to.have.property('thinking');
      expect(extrasOf(request)).to.deep.equal({ 'reasoning.summary': 'auto' });
      expect(dropped).to.deep.equal([]);
    });

    for (const field of ['background', 'conversation', 'prompt']) {
      it(`refuse ${field}`, async () => {
        expect(await refusal(() => decode({ [field]: true }))).to.match(
          new RegExp(`^${field}: is not supported`),
        );
      });
    }
  });

  describe('after another response', () => {
    const previousId = 'resp_1';
    const answered = {
      type: 'message',
      id: itemId('msg', previousId, 1),
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello' }],
    };
    const reasoned = {
      type: 'reasoning',
      id: itemId('rs', previousId, 0),
      summary: [],
      encrypted_content: sealReasoning(thought),
    };

    async function stored(owner = 'k1'): Promise<FormatContext> {
      const context = contextWith({ id: 'm' });
      await context.store.responses.put({
        id: previousId,
        owner,
        input: [user],
        response: { id: previousId, output: [reasoned, answered] },
        expiresAtMs: Infinity,
      });
      return context;
    }

    it('goes on from its input and output, without its instructions', async () => {
      const body = { previous_response_id: previousId, input: 'More' };
      const { request, dropped } = await decode(body, {}, await stored());
      expect(request.messages).to.deep.equal([
        { role: 'user', content: [said('Hi')] },
        { role: 'assistant', content: [thought, said('Hello')] },
        { role: 'user', content: [said('More')] },
      ]);
      expect(request).to.not.have.property('system');
      expect(dropped).to.deep.equal([]);
    });

    it('gives all its input items, for the next one', async () => {
      const body = { model: 'm', previous_response_id: previousId, input: 'More' } as ResponsesBody;
      expect(await inputItems(body, await stored())).to.deep.equal([
        user,
        reasoned,
        answered,
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'More' }] },
      ]);
    });

    it('may name items of it alone, in the place where they belong', async () => {
      const input = [user, { type: 'item_reference', id: reasoned.id }, { id: answered.id }, user];
      const { request } = await decode({ input }, {}, await stored());
      expect(request.messages.map(({ content }) => content)).to.deep.equal([
        [said('Hi')],
        [thought, said('Hello')],
        [said('Hi')],
      ]);
    });

    it('names the field in its own input, not in the input before', async () => {
      const body = { previous_response_id: previousId, input: [{ role: 'user', content: 5 }] };
      const context = await stored();
      expect(await refusal(() => decode(body, {}, context))).to.match(
        /^input\[0\]\.content: must be a string/,
      );
    });

    it('is a 404 where there is none, or it is another caller’s', async () => {
      const theirs = await stored('k2');
      const gone =
        /^Previous response with id 'resp_1' not found\. The response it names was not stored, has expired/;
      expect(await missing({ previous_response_id: previousId }, theirs)).to.match(gone);
      expect(await missing({ previous_response_id: previousId })).to.match(gone);
      const named = { input: [{ type: 'item_reference', id: answered.id }] };
      expect(await missing(named, theirs)).to.contain(`Item with id '${answered.id}' not found.`);
      const foreign = { input: [{ type: 'item_reference', id: 'msg_68cdba6652ac' }] };
      expect(await missing(foreign)).to.contain("Item with id 'msg_68cdba6652ac' not found.");
    });

    /** The message of the error that decoding ends with. */
    async function missing(body: object, context?: FormatContext): Promise<string> {
      const error = await decode(body, {}, context).catch((error: unknown) => error);
      if (!isGatewayError(error)) throw new Error('It was accepted.', { cause: error });
      expect(error).to.include(
        'previous_response_id' in body
          ? { code: 'previous_response_not_found', type: 'invalid_request_error', status: 400 }
          : { code: 'not_found', type: 'not_found_error', status: 404 },
      );
      return error.message;
    }
  });

  describe('that cannot be read is refused', () => {
    for (const [input, message] of [
      [[], /^input: must contain a/],
      [5, /^input: must be a string or an array/],
      [[5], /^input\[0\]: must be an object/],
      [[{ role: 'robot', content: 'x' }], /^input\[0\]\.role: must be one of "user"/],
      [[{ type: 'function_call', name: 'f' }], 'input[0].call_id: is required'],
      [[call('a', 'f', { arguments: '[1]' })], /^input\[0\]\.arguments: must be the JSON text of an object/],
      [[{ role: 'user', content: [{ type: 'input_audio' }] }], /^input\[0\]\.content\[0\]: has the type/],
      [
        [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
        /^input\[0\]\.content\[0\]\.file_id: /,
      ],
      [[output('a', [{ type: 'input_text' }])], 'input[0].output[0].text: is required'],
    ] as const) {
      it(`: ${String(message)}`, async () => {
        const told = await refusal(() => decode({ input }));
        if (typeof message === 'string') expect(told).to.equal(message);
        else expect(told).to.match(message);
      });
    }
  });
});
