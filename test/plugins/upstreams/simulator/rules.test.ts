import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { post, refusal, saying } from './caller.js';

const fixtures = join('..', 'shared', 'fixtures');

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const call = (id: string): object => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'seen' });
const marked = (text: string, ttl?: string): object => ({
  type: 'text',
  text,
  cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) },
});
const look = { name: 'look', input_schema: { type: 'object', properties: {} } };
const history = (...messages: object[]): object => saying('', { messages, tools: [look] });
const closed = "For 'object' type, 'additionalProperties' must be explicitly set to false";
const pixel = 'iVBORw0KGgo=';

const strictly = (a: object, more: object = {}): object => {
  const schema = { type: 'object', properties: { a }, additionalProperties: false, ...more };
  return saying('hi', { tools: [{ name: 'look', input_schema: schema, strict: true }] });
};

/** What is wrong with each request, in the words of the real service. */
const wrong: readonly (readonly [string, object])[] = [
  ['model: Field required', { max_tokens: 1, messages: [] }],
  ['max_tokens: Field required', { model: 'm', messages: [user('hi')] }],
  ['messages: Field required', { model: 'm', max_tokens: 1 }],
  ['foo: Extra inputs are not permitted', saying('hi', { foo: 1 })],
  ['max_tokens: Input should be greater than or equal to 1', saying('hi', { max_tokens: 0 })],
  ['max_tokens: Input should be a valid integer', saying('hi', { max_tokens: 1.5 })],
  [
    'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for sonnet-5',
    saying('hi', { max_tokens: 128_001 }),
  ],
  ['messages: at least one message is required', saying('', { messages: [] })],
  ['messages: first message must use the "user" role', saying('', { messages: [assistant('hi')] })],
  [
    "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    saying('', { messages: [{ role: 'tool', content: 'hi' }] }),
  ],
  ['messages.0.content: Field required', saying('', { messages: [{ role: 'user' }] })],
  ['messages.0.content: Input should be a valid list', saying('', { messages: [user(null)] })],
  [
    'messages.0: all messages must have non-empty content except for the optional final assistant message',
    saying('', { messages: [user([])] }),
  ],
  [
    'messages: text content blocks must be non-empty',
    saying('', { messages: [user([{ type: 'text', text: '' }])] }),
  ],
  [
    'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
    saying('', { messages: [user([marked('')])] }),
  ],
  ['messages.0.content.0.text.text: Field required', saying('', { messages: [user([{ type: 'text' }])] })],
  [
    'messages.0.content.0.text.id: Extra inputs are not permitted',
    saying('', { messages: [user([{ type: 'text', text: 'hi', id: 'x' }])] }),
  ],
  ['messages.0.content.0: `tool_use` blocks can only be in `assistant` messages', history(user([call('a')]))],
  [
    'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block ' +
      'must have a corresponding `tool_result` block in the next message.',
    history(user('hi'), assistant([call('a'), call('b')]), user([result('a')])),
  ],
  [
    'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block ' +
      'must have a corresponding `tool_result` block in the next message.',
    history(user('hi'), assistant([call('a')]), user([{ type: 'text', text: 'first' }, result('a')])),
  ],
  [
    'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: z. Each `tool_result` block must ' +
      'have a corresponding `tool_use` block in the previous message.',
    history(user([result('z')])),
  ],
  [
    'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
    history(user('hi'), assistant([call('a')]), user([result('a'), result('a')])),
  ],
  [
    'messages: `tool_use` ids must be unique',
    history(user('hi'), assistant([call('a'), call('a')]), user([result('a')])),
  ],
  [
    'Requests which include `tool_use` or `tool_result` blocks must define tools.',
    { ...history(user('hi'), assistant([call('a')]), user([result('a')])), tools: undefined },
  ],
  [
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is ' +
      'enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of ' +
      '`tool_use` and `tool_result` blocks).',
    {
      ...history(user('hi'), assistant([call('a')]), user([result('a')])),
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
  ],
  [
    'messages: final assistant content cannot end with trailing whitespace',
    saying('', { messages: [user('hi'), assistant('so: ')] }),
  ],
  [
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    saying('', {
      messages: [user(['a', 'b', 'c', 'd'].map((text) => marked(text)))],
      cache_control: { type: 'ephemeral' },
    }),
  ],
  [
    "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' " +
      'cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
    saying('', { system: [marked('s', '5m')], messages: [user([marked('u', '1h')])] }),
  ],
  [
    "messages.0.content.0.text.cache_control.ttl: Input should be '5m' or '1h'",
    saying('', { messages: [user([marked('hi', '2h')])] }),
  ],
  [
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    saying('hi', { tools: [{ ...look, name: 'not ok' }] }),
  ],
  ['tools.0.custom.input_schema: Field required', saying('hi', { tools: [{ name: 'look' }] })],
  ['tools: Tool names must be unique.', saying('hi', { tools: [look, look] })],
  [
    "tool_choice: Tool 'other' not found in provided tools",
    saying('hi', { tools: [look], tool_choice: { type: 'tool', name: 'other' } }),
  ],
  [
    'tool_choice: may only be specified while providing tools',
    saying('hi', { tool_choice: { type: 'any' } }),
  ],
  [
    'tool_choice: forced tool use is not supported by this model',
    saying('hi', { model: 'sonnet-5-5', tools: [look], tool_choice: { type: 'any' } }),
  ],
  [
    'Thinking may not be enabled when tool_choice forces tool use.',
    saying('hi', { tools: [look], tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } }),
  ],
  [
    'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    saying('hi', { tools: [{ name: 'look', input_schema: { type: 'object', anyOf: [] } }] }),
  ],
  [
    "tools.0.custom: For 'integer' type, properties maximum, minimum are not supported",
    strictly({ type: ['integer', 'null'], minimum: 1, maximum: 2 }),
  ],
  [
    "tools.0.custom: For 'string' type, property 'maxLength' is not supported",
    strictly({ anyOf: [{ type: 'string', maxLength: 2 }] }),
  ],
  [
    "tools.0.custom: For 'array' type, 'minItems' values other than 0 or 1 are not supported (got: [2])",
    strictly({ type: 'array', items: { type: 'null' }, minItems: 2 }),
  ],
  [
    "tools.0.custom: For 'array' type, property 'maxItems' is not supported",
    strictly({ type: 'array', items: { type: 'null' }, maxItems: 2 }),
  ],
  ["tools.0.custom: Schema type 'oneOf' is not supported", strictly({ oneOf: [{ type: 'null' }] })],
  [
    "tools.0.custom: For 'string' type, 'format: regex' is not supported",
    strictly({ type: 'string', format: 'regex' }),
  ],
  [
    "tools.0.custom: For 'object' type, 'additionalProperties: object' is not supported. Please set 'additionalProperties' to false",
    strictly({ type: 'object', additionalProperties: { type: 'string' } }),
  ],
  [
    'tools.0.custom: Recursive schemas are not supported',
    strictly({ $ref: '#/$defs/b' }, { $defs: { b: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } }),
  ],
  [`tools.0.custom: ${closed}`, saying('hi', { tools: [{ ...look, strict: true }] })],
  [
    `output_config.format.schema: ${closed}`,
    saying('hi', {
      output_config: {
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: { a: { type: 'object' } }, additionalProperties: false },
        },
      },
    }),
  ],
  ['temperature: Input should be less than or equal to 1', saying('hi', { temperature: 1.5 })],
  [
    '`temperature` may only be set to 1 when thinking is enabled.',
    saying('hi', { temperature: 0.5, thinking: { type: 'adaptive' } }),
  ],
  [
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    saying('hi', { thinking: { type: 'enabled', budget_tokens: 1000 } }),
  ],
  [
    '`max_tokens` must be greater than `thinking.budget_tokens`.',
    saying('hi', { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } }),
  ],
  [
    'stop_sequences: each stop sequence must contain non-whitespace',
    saying('hi', { stop_sequences: ['\n'] }),
  ],
  [
    "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or " +
      "'image/webp'",
    saying('', {
      messages: [
        user([{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: pixel } }]),
      ],
    }),
  ],
  [
    'messages.0.content.0.image.source.base64.data: Input should be valid base64',
    saying('', {
      messages: [
        user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'data:x,%' } }]),
      ],
    }),
  ],
];

describe('the rules of the simulator', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const [message, request] of wrong) {
    it(`refuse a request: ${message.slice(0, 80)}`, async () => {
      const { status, type, message: said } = await refusal(simulator, request);
      expect([status, type, said]).to.deep.equal([400, 'invalid_request_error', message]);
    });
  }

  it('name an unknown block type', async () => {
    const { message } = await refusal(simulator, saying('', { messages: [user([{ type: 'smell' }])] }));
    expect(message).to.match(/^messages\.0\.content\.0: Input tag 'smell' found using 'type' does not match/);
  });

  it('refuse sampling parameters under the later API version, and only there', async () => {
    const body = saying('hi', { top_p: 0.9 });
    const later = {
      authorization: 'Bearer k',
      'anthropic-version': '2026-10-21',
      'content-type': 'application/json',
    };
    expect(await refusal(simulator, body, { headers: later })).to.include({
      message: 'top_p: Extra inputs are not permitted',
    });
    expect((await post(simulator, body)).statusCode).to.equal(200);
  });

  it('refuse to continue a thread that it does not hold, with the code that SDKs recover by', async () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    const { status, details } = await refusal(simulator, { ...history(user([result('a')])), thread });
    expect([status, details]).to.deep.equal([404, { error_code: 'thread_not_found' }]);
  });

  it('let markers in the order of a prompt pass, 1h before 5m, four in all', async () => {
    const request = saying('', {
      tools: [{ ...look, cache_control: { type: 'ephemeral', ttl: '1h' } }],
      system: [marked('s', '1h')],
      messages: [user([marked('a', '5m'), marked('b')])],
    });
    expect((await post(simulator, request)).statusCode).to.equal(200);
  });

  it('take neighbours of one role, and system messages, as parts of one turn', async () => {
    const request = history(
      user('hi'),
      assistant('I will.'),
      assistant([call('a'), call('b')]),
      user([result('a')]),
      { role: 'system', content: 'Mind the gap.' },
      user([result('b')]),
      { role: 'system', output_config: { effort: 'low' } },
      user('and?'),
    );
    expect((await post(simulator, request)).statusCode).to.equal(200);
  });

  describe('with recorded requests', () => {
    const index = join(fixtures, 'INDEX.json');
    const { files } = existsSync(index)
      ? (JSON.parse(readFileSync(index, 'utf8')) as { files: { file: string; status?: number }[] })
      : { files: [] };
    const recorded = files.filter(({ file }) => file.startsWith('messages-requests/'));

    it('have recordings to hold against', function hasRecordings() {
      if (recorded.length === 0) this.skip();
      expect(recorded.length).to.be.greaterThan(30);
    });

    for (const { file, status = 200 } of recorded) {
      it(`answer ${file} with ${status}, as the service did`, async () => {
        const path = file.includes('count-tokens') ? '/v1/messages/count_tokens' : '/v1/messages';
        const { statusCode, body } = await post(simulator, readFileSync(join(fixtures, file), 'utf8'), {
          path,
        });
        const text = await body.text();
        expect([statusCode, statusCode === status ? '' : text]).to.deep.equal([status, '']);
      });
    }
  });
});
