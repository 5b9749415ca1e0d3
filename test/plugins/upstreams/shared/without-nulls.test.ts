import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { responsesRequest } from '#plugins/upstreams/responses/request/responses-request.js';
import { withoutNulls } from '#plugins/upstreams/shared/request-shape.js';

const cache_control = { type: 'ephemeral' };

/** A request with all optional fields that a translation reads. */
const full = {
  model: 'm',
  max_tokens: 2000,
  temperature: 1,
  top_p: 0.9,
  top_k: 5,
  stop_sequences: ['x'],
  metadata: { user_id: 'u' },
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
  cache_control,
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  system: [{ type: 'text', text: 'S', cache_control }],
  tools: [
    {
      type: 'custom',
      name: 'f',
      description: 'd',
      input_schema: { type: 'object', properties: { a: { enum: ['x', null] } } },
      strict: false,
      cache_control,
    },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Go.', cache_control }] },
    {
      role: 'user',
      content: [{ type: 'document', title: 't', source: { type: 'text', data: 'D' } }],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'T', signature: 's' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: null } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'r', cache_control }],
    },
  ],
};

/** Optional fields, those of the first object of each kind. */
const optional = `
  max_tokens temperature top_p top_k stop_sequences metadata metadata.user_id thinking
  thinking.display output_config output_config.effort output_config.format cache_control tool_choice
  tool_choice.disable_parallel_tool_use system tools system.0.cache_control tools.0.cache_control
  messages.0.content.0.cache_control tools.0.type tools.0.description tools.0.input_schema
  messages.1.content.0.title messages.2.content.0.signature messages.2.content.1.input
  messages.3.content.0.is_error messages.3.content.0.content messages.3.content.0.cache_control
`
  .trim()
  .split(/\s+/);

/** Copy of the request with another value at a path; undefined leaves the field out. */
function withValue(path: string, value: null | undefined): MessagesRequest {
  const request: unknown = structuredClone(full);
  const names = path.split('.');
  const last = names.pop()!;
  const holder = names.reduce((fields, name) => fields[name] as Fields, request as Fields);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return request as MessagesRequest;
}

type Fields = Record<string, unknown>;

describe('a field of a Messages request that is null', () => {
  const chat = capabilitiesOf({ preset: 'openrouter', unsupported: 'report' }, 'a');
  const responses = {
    encryptedReasoning: true,
    efforts: ['high'],
    strictTools: true,
    files: true,
    promptCacheKey: false,
    vendor: 'a',
    keepAttribution: false,
    unsupported: 'report' as const,
  };

  for (const path of optional) {
    it(`is as if it were left out: ${path}`, () => {
      const [given, without] = [withValue(path, null), withValue(path, undefined)];
      expect(chatRequest(given, chat)).to.deep.equal(chatRequest(without, chat));
      expect(responsesRequest(given, responses)).to.deep.equal(responsesRequest(without, responses));
    });
  }

  it('stays where it is data of the caller: in inputs and schemas', () => {
    expect(withoutNulls(full)).to.equal(full);
    expect(withoutNulls({ ...full, tools: null, temperature: null })).to.deep.include({
      messages: full.messages,
    });
    expect(JSON.stringify(chatRequest(withValue('temperature', null), chat).body)).to.include('\\"a\\":null');
  });

  it('is refused by its name where a request needs it', () => {
    const request = { ...full, messages: [{ role: 'user', content: null }] } as unknown as MessagesRequest;
    expect(() => chatRequest(request, chat)).to.throw('messages[0].content');
  });
});
