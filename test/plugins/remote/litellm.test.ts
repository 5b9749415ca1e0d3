import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Context } from 'koa';
import { foldMessage, wrapCall, type MessagesRequest, type ModelCall } from '@gw2api/gateway/plugin';
import { eventsOf, fakeHost, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import remote from '#plugins/remote/index.js';
import { serveRemote, type Answerer, type Service } from './service.js';

const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
} as const;

const request: MessagesRequest = {
  model: 'm',
  system: 'Be kind.',
  messages: [
    { role: 'user', content: 'one' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'two' },
        { type: 'tool_use', id: 't1', name: 'look', input: { at: 'here' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'three' },
        { type: 'text', text: 'four' },
        image,
      ],
    },
  ],
  tools: [
    { name: 'look', description: 'Looks.', input_schema: { type: 'object' } },
    { name: 'erase', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
};

const call = (id: string, name: string, input: string) => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});

const answer: ModelCall = async () =>
  replyOf(eventsOf(...messageEvents({ content: [{ type: 'text', text: 'five' }] })));

/** All fields that LiteLLM's client sends, null where there is nothing: a strict guard may require each. */
const fields = [
  'additional_provider_specific_params',
  'images',
  'input_type',
  'litellm_call_id',
  'litellm_trace_id',
  'litellm_version',
  'model',
  'request_data',
  'request_headers',
  'structured_messages',
  'texts',
  'tool_calls',
  'tools',
];

describe('remote, with a guard of LiteLLM,', () => {
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  async function run(
    guard: Answerer,
    options: Readonly<Record<string, unknown>> = {},
    more: Partial<Parameters<typeof runStage>[1]> = {},
  ) {
    const service = await serveRemote(guard);
    services.push(service);
    const sent: MessagesRequest[] = [];
    const host = fakeHost({ name: 'dlp' });
    const result = await runStage(remote, {
      call: async (outgoing) => {
        sent.push(outgoing);
        return answer(outgoing);
      },
      ...more,
      host,
      options: { url: service.url, protocol: 'litellm', on: ['request', 'answer'], ...options },
      state: { request, requestId: 'r1', delivery: 'whole', ...more.state },
    });
    const { reply } = result.state;
    const answered = reply && (await foldMessage(reply.events).catch(String));
    await host.dispose();
    return { ...result, sent, answered, questions: service.questions };
  }

  const none: Answerer = () => ({ action: 'NONE' });

  it('sends each field that LiteLLM sends, and of the caller only what the option names', async () => {
    const state = { caller: { kind: 'key', keyId: 'k1', name: 'Jo' } } as const;
    const { questions } = await run(none, { context: { level: 2 } }, { headers: { 'x-team': 'red' }, state });
    const [asked, answered] = questions.map(({ body }) => body);
    for (const body of [asked, answered]) {
      expect(body).to.have.all.keys(...fields);
      expect(body).to.deep.include({
        litellm_trace_id: 'r1',
        litellm_version: 'unknown',
        additional_provider_specific_params: { level: 2 },
        request_data: {},
        request_headers: null,
        model: null,
        tools: null,
      });
    }
    expect(answered).to.deep.include({ texts: ['five'], tool_calls: null, images: null });
    expect(answered.structured_messages).to.equal(null);
  });

  it('sends caller, team, model, session and headers where these are named', async () => {
    const team = { id: 't1', name: 'red' };
    const { questions } = await run(
      none,
      { send: ['messages', 'caller', 'model', 'session', 'header:X-Team'] },
      {
        headers: { 'x-team': 'red', 'x-session-id': 's1' },
        state: { caller: { kind: 'key', keyId: 'k1', name: 'Jo', team } },
      },
    );
    for (const { body } of questions)
      expect(body).to.deep.include({
        request_data: {
          user_api_key_hash: 'k1',
          user_api_key_alias: 'Jo',
          user_api_key_team_id: 't1',
          user_api_key_team_alias: 'red',
        },
        model: 'm',
        litellm_trace_id: 's1',
        request_headers: { 'x-team': 'red' },
      });
  });

  it('sends messages in the Chat format, whose texts are the first ones of all texts', async () => {
    const { questions } = await run(none, { send: ['messages', 'system', 'tools'] });
    expect(questions[0]!.body).to.deep.include({
      texts: ['Be kind.', 'one', 'two', 'three', 'four', 'here'],
      structured_messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two', tool_calls: [call('t1', 'look', '{"at":"here"}')] },
        { role: 'tool', tool_call_id: 't1', content: 'three' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'four' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      images: ['data:image/png;base64,AAAA'],
      tool_calls: [call('t1', 'look', '{"at":"here"}')],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
        },
        { type: 'function', function: { name: 'erase', parameters: { type: 'object' } } },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
    });
  });

  it('puts each text of a reply in the place of the one that was sent', async () => {
    const { sent } = await run(({ body }) => ({
      action: 'GUARDRAIL_INTERVENED',
      texts: (body.texts as readonly string[]).map((text) => text.toUpperCase()),
    }));
    expect(sent[0]!.system).to.equal('Be kind.');
    expect(sent[0]!.messages).to.deep.equal([
      { role: 'user', content: 'ONE' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'TWO' },
          { type: 'tool_use', id: 't1', name: 'look', input: { at: 'HERE' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'THREE' },
          { type: 'text', text: 'FOUR' },
          image,
        ],
      },
    ]);
  });

  it('sends one id with a request and all its answers, and another with the next request', async () => {
    const again: ModelCall = (outgoing) => answer(outgoing);
    const ids = async () => {
      const below = async (ctx: Context) => void (await wrapCall(ctx, again)(request));
      const { questions } = await run(none, {}, { below });
      return questions.map(({ body }) => body.litellm_call_id as string);
    };
    const [first, ...others] = await ids();
    expect(first).to.match(/^[\da-f-]{36}$/);
    expect(others).to.deep.equal([first, first]);
    expect(await ids()).to.not.include(first); // though the request id is the same
  });

  it('gives its secret as an API key and as a bearer token', async () => {
    const { questions } = await run(none, { secret: 'guard-key' });
    expect(questions[0]!.headers).to.include({
      'x-api-key': 'guard-key',
      authorization: 'Bearer guard-key',
    });
  });

  it('takes the whole address of a guard as well as its base', async () => {
    const service = await serveRemote(none);
    services.push(service);
    const url = `${service.url}/beta/litellm_basic_guardrail_api/`;
    await run(none, { url });
    expect(service.questions[0]!.path).to.equal('/check/beta/litellm_basic_guardrail_api');
  });

  const allowing = {
    'status 201': (response: ServerResponse) => response.writeHead(201).end('{"action":"NONE"}'),
    'null in each other field': {
      action: 'NONE',
      blocked_reason: null,
      texts: null,
      images: null,
      tools: null,
      tool_calls: null,
      structured_messages: null,
    },
    'empty lists': { action: 'GUARDRAIL_INTERVENED', texts: [], images: [], tools: [], blocked_reason: '' },
    'fields that LiteLLM ignores': { action: 'NONE', stream_holdback_chars: [64], score: 0.5 },
    'a change without texts': { action: 'GUARDRAIL_INTERVENED' },
  };
  for (const [what, reply] of Object.entries(allowing))
    it(`lets a request and its answer pass after ${what}`, async () => {
      const { sent, answered } = await run(() => reply);
      expect(sent[0]).to.equal(request);
      expect(answered).to.deep.include({ content: [{ type: 'text', text: 'five' }] });
    });

  it('takes the texts of NONE, as LiteLLM does', async () => {
    const { answered } = await run(({ body }) => ({
      action: 'NONE',
      texts: (body.texts as readonly string[]).map((text) => text.toUpperCase()),
    }));
    expect(answered).to.deep.include({ content: [{ type: 'text', text: 'FIVE' }] });
  });

  it('has a text of its own for a block without a reason', async () => {
    for (const blocked_reason of ['', null, undefined, 7]) {
      const { error } = await run(() => ({ action: 'BLOCKED', blocked_reason }));
      expect(error).to.deep.include({ code: 'stage_denied', status: 403 });
      expect(String(error)).to.include('Refused by a rule of this gateway.');
    }
  });

  const failing = {
    'another action': { action: 'WAIT' },
    'no action': {},
    'status 302': (response: ServerResponse) => response.writeHead(302).end('{"action":"NONE"}'),
    'another number of texts': { action: 'GUARDRAIL_INTERVENED', texts: ['one'] },
    'an unknown tool': {
      action: 'GUARDRAIL_INTERVENED',
      tools: [{ type: 'function', function: { name: 'other' } }],
    },
  };
  for (const [what, reply] of Object.entries(failing))
    it(`fails after ${what}`, async () => {
      const { error, sent } = await run(() => reply, { send: ['messages', 'tools'] });
      expect(error).to.deep.include({ code: 'stage_failed' });
      expect(sent).to.deep.equal([]);
    });

  it('takes tools as a reply has them, where the option names tools', async () => {
    const look = { name: 'look', description: 'Looks away.', parameters: { type: 'object' } };
    const reply = { action: 'GUARDRAIL_INTERVENED', tools: [{ type: 'function', function: look }] };
    const changed = await run(() => reply, { send: ['messages', 'tools'], on: ['request'] });
    expect(changed.sent[0]!.tools).to.deep.equal([
      { name: 'look', description: 'Looks away.', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
    const unsent = await run(() => reply, { on: ['request'] });
    expect(unsent.sent[0]!.tools).to.equal(request.tools);
    const same = await run(
      ({ body }) => ({ action: 'GUARDRAIL_INTERVENED', tools: body.tools as readonly object[] }),
      { send: ['messages', 'tools'], on: ['request'] },
    );
    expect(same.sent[0]!.tools).to.equal(request.tools);
  });
});
