import { expect } from 'chai';
import { masterKey, slotAt, stages, startGateway, eventsIn, type GatewayUnderTest } from '../../harness.js';
import { scripted } from '../../scripted-upstream.js';

const chunk = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const messages = [{ role: 'user', content: 'Name a colour.' }];

/** Streams of a server of each format, with one text. */
const streams: Readonly<Record<string, (text: string) => string>> = {
  chat: (text) =>
    chunk({ id: 'chatcmpl-7', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: text } }] }) +
    chunk({ id: 'chatcmpl-7', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
    'data: [DONE]\n\n',
  responses: (text) =>
    [
      { type: 'response.created', response: { id: 'resp_7', model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] } },
      { type: 'response.completed', response: { id: 'resp_7', status: 'completed', output: [] } },
    ].map(chunk).join(''),
}; // prettier-ignore

interface Opened {
  readonly gateway: GatewayUnderTest;
  close(): Promise<void>;
}

async function open(upstream: string, body: string, encode: object = {}): Promise<Opened> {
  const server = await scripted((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
  });
  const without = ['persona-inject', 'web-search-tool']; // additions are taken out of the counts
  const pipeline = stages({ with: { 'format-encode': encode }, without });
  const gateway = await startGateway({ pipeline, slots: [slotAt(server.url, { upstream })] });
  return {
    gateway,
    async close() {
      await gateway.close();
      await server.close();
    },
  };
}

for (const kind of ['chat', 'responses'])
  describe(`an answer of a ${kind} slot`, () => {
    let opened: Opened;
    before(async () => void (opened = await open(kind, streams[kind]?.('Blue.') ?? '')));
    after(() => opened.close());
    const post = (fields: object = {}, path = '/v1/messages') =>
      opened.gateway.post(path, { model: 'sonnet-5', max_tokens: 100, messages, ...fields });

    it('has all members that typed clients of Messages require, whole and streamed', async () => {
      const whole = (await (await post()).json()) as { usage: object };
      expect(whole).to.include({ id: 'msg_7', container: null, stop_details: null, stop_sequence: null });
      const counts = ['cache_creation_input_tokens', 'cache_read_input_tokens'];
      const nulls = ['cache_creation', 'server_tool_use', 'service_tier', 'inference_geo'];
      expect(whole.usage).to.include(Object.fromEntries(counts.map((name) => [name, 0])));
      expect(whole.usage).to.include(Object.fromEntries(nulls.map((name) => [name, null])));
      const events = eventsIn(await (await post({ stream: true })).text());
      expect(events[0]).to.have.nested.property('message.id', 'msg_7');
      expect(events[0]).to.have.nested.property('message.container', null);
      expect(events[0]).to.have.nested.property('message.usage.cache_read_input_tokens', 0);
      expect(events.at(-2)).to.have.nested.property('delta.stop_details', null);
      expect(events.at(-2)).to.have.nested.property('usage.cache_creation_input_tokens', 0);
    });

    it('has the same id each time, in the form of the caller', async () => {
      const ids = [];
      for (let turn = 0; turn < 2; turn += 1)
        ids.push(((await (await post({}, '/v1/chat/completions')).json()) as { id: string }).id);
      expect(ids).to.deep.equal(['chatcmpl-7', 'chatcmpl-7']);
    });

    it('begins with the number that a token count names', async () => {
      const [start] = eventsIn(await (await post({ stream: true })).text());
      const { message } = start as { message: { usage: { input_tokens: number } } };
      const count = (await (await post({}, '/v1/messages/count_tokens')).json()) as object;
      expect(count).to.deep.equal({ input_tokens: message.usage.input_tokens });
    });
  });

describe('a stream', () => {
  it('has U+2028 and U+2029 escaped in every format', async () => {
    const text = 'a\u2028b\u2029c \u201cd\u201d';
    const opened = await open('chat', streams['chat']?.(text) ?? '');
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      const response = await opened.gateway.post(path, {
        model: 'sonnet-5',
        max_tokens: 9,
        messages,
        stream: true,
      });
      const sent = await response.text();
      expect(sent).to.include('a\\u2028b\\u2029c \u201cd\u201d');
      expect(sent).not.to.match(/[\u2028\u2029]/);
    }
    await opened.close();
  });

  for (const [brokenStreams, isCut] of [
    ['end', false],
    ['close', true],
  ] as const)
    // prettier-ignore
    it(`that fails ${isCut ? 'is cut' : 'ends'} after its error event with brokenStreams: ${brokenStreams}`, async () => {
      const broken = `${streams['chat']?.('Blue.').split('\n\n')[0]}\n\n${chunk({ error: { message: 'Down.', code: 500 } })}`;
      const opened = await open('chat', broken, { brokenStreams });
      const body = { model: 'sonnet-5', max_tokens: 9, messages, stream: true };
      const response = await opened.gateway.post('/v1/messages', body);
      const decoder = new TextDecoder();
      let text = '';
      let error: unknown;
      try {
        for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array);
      } catch (thrown) {
        error = thrown;
      }
      expect(text).to.include('Blue.').and.include('event: error').and.include('Down.');
      expect(error !== undefined).to.equal(isCut);
      await opened.close();
    });
});

describe('a token count', () => {
  it('that can only be estimated is 501 with countTokens: exact', async () => {
    const opened = await open('chat', '', { countTokens: 'exact' });
    const response = await opened.gateway.post('/v1/messages/count_tokens', { model: 'sonnet-5', messages });
    expect(response.status).to.equal(501);
    expect(await response.json()).to.have.nested.property('error.code', 'not_supported');
    await opened.close();
  });

  it('goes up without the fields that it does not take', async () => {
    let sent: object = {};
    const server = await scripted((_, response, __, body) => {
      sent = JSON.parse(body) as object;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":7}');
    });
    const gateway = await startGateway({ slots: [slotAt(server.url)] });
    const settings = { stream: true, max_tokens: 9, temperature: 0.5, metadata: {}, stop_sequences: ['x'] };
    const count = await gateway.post('/v1/messages/count_tokens', {
      model: 'sonnet-5',
      messages,
      ...settings,
    });
    expect(await count.json()).to.deep.equal({ input_tokens: 7 });
    expect(sent).to.include.keys('model', 'messages');
    expect(sent).not.to.have.any.keys(Object.keys(settings));
    await gateway.close();
    await server.close();
  });
});

describe('too long a prompt', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
      'prompt is too long: 10000 tokens > 8192 maximum. ',
    ],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576). context length',
      'prompt is too long: 1200000 tokens > 1048576 maximum. ',
    ],
    ['The prompt exceeds the context window of this model.', 'prompt is too long. '],
    [
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      'prompt is too long: 40000 tokens > 32768 maximum. ',
    ],
    [
      'The prompt is too long: 200000, model maximum context length: 131071',
      'prompt is too long: 200000 tokens > 131071 maximum. ',
    ],
    ['prompt is too long: 200001 tokens > 200000 maximum', ''],
  ];
  for (const [message, beginning] of cases)
    it(`is told to callers of Messages in words that they understand: ${message}`, async () => {
      const server = await scripted((_, response) => {
        const error = { message, code: 'context_length_exceeded', type: 'invalid_request_error' };
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      });
      const gateway = await startGateway({ slots: [slotAt(server.url, { upstream: 'chat' })] });
      const body = { model: 'sonnet-5', max_tokens: 9, messages };
      const answer = await gateway.post('/v1/messages', body);
      expect(answer.status).to.equal(400);
      expect(await answer.json()).to.have.nested.property('error.message', beginning + message);
      const chat = await gateway.post('/v1/chat/completions', body);
      expect(((await chat.json()) as { error: object }).error).to.include({
        code: 'context_length_exceeded',
        message,
      });
      await gateway.close();
      await server.close();
    });
});

describe('words about the length of a prompt that have no code', () => {
  for (const message of [
    'The input token count (1300000) exceeds the maximum number of tokens allowed (1048575).',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`',
  ])
    it(`have the code that clients know: ${message}`, async () => {
      const server = await scripted((_, response) => {
        response
          .writeHead(422, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: message }));
      });
      const gateway = await startGateway({ slots: [slotAt(server.url, { upstream: 'chat' })] });
      const answer = await gateway.post('/v1/messages', { model: 'sonnet-5', max_tokens: 9, messages });
      const { error } = (await answer.json()) as { error: { message: string } };
      expect(answer.status).to.equal(400);
      expect(error.message).to.match(/^prompt is too long: \d+ tokens > \d+ maximum\. /);
      await gateway.close();
      await server.close();
    });
});

describe('a listed model', () => {
  it('has the members that clients of Messages read', async () => {
    const opened = await open('chat', '');
    const response = await opened.gateway.get('/v1/models', { 'x-api-key': masterKey });
    const { data } = (await response.json()) as { data: readonly object[] };
    for (const model of data)
      expect(model).to.include.keys(
        'max_input_tokens',
        'max_tokens',
        'lifecycle',
        'deprecated_at',
        'retires_at',
        'capabilities',
      );
    await opened.close();
  });
});
