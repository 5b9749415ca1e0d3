import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ContentBlock, MessagesRequest } from '@gw2api/gateway/plugin';
import { masterKey, startPair, type Pair } from '../../harness.js';
import { lastRequest } from '../../clients/sdk-clients.js';

const model = 'sonnet-5';
const messages = [{ role: 'user', content: 'Hi' }];
const formats = [
  ['/v1/chat/completions', { model, messages }],
  ['/v1/responses', { model, input: 'Hi' }],
  ['/v1/completions', { model, prompt: 'Hi', max_tokens: 100 }],
] as const;

let pair: Pair;

async function sent(path: string, body: object) {
  const response = await pair.post(path, body);
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  expect(response.status, JSON.stringify(answer)).to.equal(200);
  const dropped = response.headers.get('x-gw-dropped')?.split(', ') ?? [];
  return { request: lastRequest(pair), dropped, answer };
}

const chat = (fields: object) => sent('/v1/chat/completions', { model, messages, ...fields });
const responses = (fields: object) => sent('/v1/responses', { model, input: 'Hi', store: false, ...fields });

function blocksOf({ messages: sentMessages }: MessagesRequest): readonly ContentBlock[] {
  return sentMessages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
}

/** Calls and results of a history in their order, by id. */
function exchanged(request: MessagesRequest) {
  return blocksOf(request).flatMap((block) => {
    if (block.type === 'tool_use') return [`call ${block.id}`];
    return block.type === 'tool_result' ? [`${block.tool_use_id}: ${JSON.stringify(block.content)}`] : [];
  });
}

describe('the caller’s user', () => {
  const hidden = (text: string, key: string) =>
    createHmac('sha256', key).update(`gw2api user\0${text}`).digest('hex');
  const secrets: Readonly<Record<string, object>> = {
    'the master key': {},
    GW_SECRET_KEY: { secretKey: 's' },
  };

  afterEach(() => pair.close());

  for (const [what, options] of Object.entries(secrets)) {
    it(`goes upstream as an HMAC by ${what} where it tells who that is, or is too long`, async () => {
      pair = await startPair({}, {}, undefined, options);
      const key = 'secretKey' in options ? 's' : masterKey;
      for (const user of ['ann@example.com', 'Ann <ann.b+c@mail.example.com>', 'x'.repeat(513)])
        for (const [path, body] of formats) {
          const { request, dropped } = await sent(path, { ...body, user });
          expect(request.metadata).to.deep.equal({ user_id: hidden(user, key) });
          expect(dropped).to.not.include('user');
        }
    });
  }

  it('goes upstream as it is where it tells nothing, and always in Messages', async () => {
    pair = await startPair();
    for (const user of ['user-17', 'x'.repeat(512), '@ann', 'ann@', 'a @ b'])
      for (const [path, body] of formats)
        expect((await sent(path, { ...body, user })).request.metadata).to.deep.equal({ user_id: user });
    const metadata = { user_id: 'ann@example.com' };
    await sent('/v1/messages', { model, messages, max_tokens: 10, metadata });
    expect(lastRequest(pair).metadata).to.deep.equal(metadata);
  });
});

describe('details of the dialects', () => {
  before(async () => void (pair = await startPair({}, { models: { 'new-6': { thinking: 'budget' } } })));
  after(() => pair.close());

  describe('thinking', () => {
    const adaptive = (effort?: string) => ({ thinking: { type: 'adaptive' }, ...(effort && { effort }) });
    const cases: readonly (readonly [model: string, fields: object, plan: object, dropped?: string[]])[] = [
      ['sonnet-5', { reasoning: { effort: 'high', exclude: false } }, adaptive('high')],
      ['sonnet-5', { reasoning: { enabled: true } }, adaptive()],
      ['sonnet-5', { reasoning: { enabled: false } }, { thinking: { type: 'disabled' } }],
      ['sonnet-5', { reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }],
      ['sonnet-5', { reasoning: { max_tokens: 2000 } }, adaptive('low'), ['reasoning.max_tokens']],
      ['sonnet-5', { reasoning: { max_tokens: 20_000 } }, adaptive('high'), ['reasoning.max_tokens']],
      [
        'haiku-5',
        { reasoning: { max_tokens: 2000 } },
        { thinking: { type: 'enabled', budget_tokens: 2000 } },
      ],
      ['haiku-5', { reasoning: { enabled: true } }, { thinking: { type: 'enabled', budget_tokens: 12_288 } }],
      ['haiku-5', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
      [
        'haiku-5',
        { thinking: { type: 'enabled', budget_tokens: 3000 } },
        { thinking: { type: 'enabled', budget_tokens: 3000 } },
      ],
      [
        'haiku-5',
        { thinking: { type: 'enabled', budget_tokens: 10 } },
        { thinking: { type: 'enabled', budget_tokens: 1024 } },
        ['thinking.budget_tokens'],
      ],
      [
        'haiku-5',
        { thinking: { type: 'adaptive' } },
        { thinking: { type: 'enabled', budget_tokens: 12_288 } },
      ],
      ['sonnet-5', { thinking: { type: 'adaptive' } }, adaptive()],
      [
        'sonnet-5',
        { thinking: { type: 'enabled', budget_tokens: 3000 } },
        adaptive('low'),
        ['thinking.budget_tokens'],
      ],
      [
        'new-6',
        { thinking: { type: 'enabled', budget_tokens: 3000 } },
        { thinking: { type: 'enabled', budget_tokens: 3000 } },
      ],
      ['sonnet-5', { thinking: { type: 'sometimes' } }, {}, ['thinking.type']],
      ['sonnet-5', { thinking: true }, {}, ['thinking']],
      [
        'sonnet-5',
        { reasoning_effort: 'low', thinking: { type: 'disabled' } },
        adaptive('low'),
        ['thinking'],
      ],
      ['sonnet-5', { reasoning: { effort: 'low', exclude: true } }, adaptive('low'), ['reasoning.exclude']],
      [
        'sonnet-5',
        { reasoning: { effort: 'low', max_tokens: 20_000, enabled: false } },
        adaptive('low'),
        ['reasoning.max_tokens', 'reasoning.enabled'],
      ],
      [
        'sonnet-5',
        { reasoning_effort: 'low', reasoning: { effort: 'high' } },
        adaptive('low'),
        ['reasoning.effort'],
      ],
      ['sonnet-5', { reasoning_effort: 'low', reasoning: { effort: 'low' } }, adaptive('low')],
    ];
    for (const [model, fields, plan, dropped = []] of cases)
      it(`${JSON.stringify(fields)} works for ${model} in Chat`, async () => {
        const { request, dropped: reported } = await chat({ model, ...fields });
        const { type, budget_tokens } = (request.thinking ?? {}) as Readonly<Record<string, unknown>>;
        const thinking = request.thinking && { type, ...(budget_tokens ? { budget_tokens } : {}) };
        const effort = request.output_config?.effort;
        expect({ ...(thinking && { thinking }), ...(effort && { effort }) }).to.deep.equal(plan);
        expect(reported).to.deep.equal(dropped);
      });

    it('is shown to those who ask for it in `reasoning`', async () => {
      expect((await chat({ reasoning: { enabled: true } })).request.thinking).to.include({
        display: 'summarized',
      });
      const hidden = await chat({ reasoning: { enabled: true, exclude: true } });
      expect(hidden.request.thinking).to.not.have.property('display');
      expect(
        (await chat({ thinking: { type: 'adaptive', display: 'summarized' } })).request.thinking,
      ).to.include({
        display: 'summarized',
      });
    });

    it('works by the same words in Responses', async () => {
      const { request } = await responses({ model: 'haiku-5', reasoning: { max_tokens: 2000 } });
      expect(request.thinking).to.include({ type: 'enabled', budget_tokens: 2000 });
      const off = await responses({ reasoning: { enabled: false } });
      expect(off.request.thinking).to.deep.equal({ type: 'disabled' });
      expect(off.dropped).to.deep.equal([]);
      expect((await responses({ thinking: { type: 'adaptive' } })).request.thinking).to.include({
        type: 'adaptive',
      });
    });

    it('is refused in words where it has the wrong form', async () => {
      const response = await pair.post('/v1/chat/completions', {
        model,
        messages,
        reasoning: { max_tokens: 'x' },
      });
      expect(response.status).to.equal(400);
      expect(await response.text()).to.include('reasoning.max_tokens');
    });
  });

  describe('tool calls whose ids come again', () => {
    const call = (name: string, id = 'call_0') => ({
      id,
      type: 'function',
      function: { name, arguments: '{}' },
    });
    const look = { type: 'function', function: { name: 'look' } };

    it('have ids of their own upstream in Chat, each with its result', async () => {
      const history = [
        ...messages,
        { role: 'assistant', tool_calls: [call('look'), call('look')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'one' },
        { role: 'tool', tool_call_id: 'call_0', content: 'two' },
        { role: 'assistant', tool_calls: [call('look'), call('look', 'call_0_2')] },
        { role: 'tool', tool_call_id: 'call_0_2', content: 'four' },
        { role: 'tool', tool_call_id: 'call_0', content: 'three' },
      ];
      const { request } = await chat({ messages: history, tools: [look] });
      expect(exchanged(request)).to.deep.equal([
        'call call_0',
        'call call_0_2',
        'call_0: "one"',
        'call_0_2: "two"',
        'call call_0_3',
        'call call_0_2_2',
        'call_0_3: "three"',
        'call_0_2_2: "four"',
      ]);
    });

    it('have ids of their own upstream in Responses', async () => {
      const turn = (output: string) => [
        { type: 'function_call', call_id: 'call_0', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_0', output },
      ];
      const { request } = await responses({ input: [...messages, ...turn('one'), ...turn('two')] });
      expect(exchanged(request)).to.deep.equal([
        'call call_0',
        'call_0: "one"',
        'call call_0_2',
        'call_0_2: "two"',
      ]);
    });
  });

  describe('what tools say that cannot be passed on', () => {
    it('is reported in Chat', async () => {
      const named = (name: string, more: object = {}, outer: object = {}) => ({
        type: 'function',
        function: { name, parameters: { type: 'object', properties: {} }, ...more },
        ...outer,
      });
      const { dropped, request } = await chat({
        tools: [
          named('a', { output_schema: { type: 'string' } }),
          named('b', {}, { allowed_callers: ['programmatic'] }),
          named('a', { description: 'Another.' }),
          { type: 'custom', custom: { name: 'b' } },
        ],
        functions: [{ name: 'a' }],
      });
      expect(dropped).to.deep.equal([
        'tools[0].function.output_schema',
        'tools[1].allowed_callers',
        'tools[2]',
        'tools[3]',
        'functions[0]',
      ]);
      expect(request.tools?.filter(({ type }) => !type).map(({ name }) => name)).to.deep.equal(['a', 'b']);
    });

    it('is reported in Responses, but not a tool that was found by a search again', async () => {
      const tool = (name: string, more: object = {}) => ({
        type: 'function',
        name,
        parameters: null,
        ...more,
      });
      const found = { type: 'tool_search_output', tools: [tool('c')] };
      const { dropped } = await responses({
        input: [...messages, found, found],
        tools: [
          tool('a', { output_schema: { type: 'string' } }),
          { type: 'custom', name: 'b', allowed_callers: ['programmatic'] },
          tool('a'),
        ],
      });
      expect(dropped).to.deep.equal(['tools[0].output_schema', 'tools[1].allowed_callers', 'tools[2]']);
    });
  });
});
