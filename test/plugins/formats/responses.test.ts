import { expect } from 'chai';
import * as fc from 'fast-check';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { sealReasoning } from '#plugins/formats/shared/reasoning.js';
import type { ResponsesRequest } from '#plugins/formats/responses/answer.js';
import responses from '#plugins/formats/responses/index.js';
import { responsesReply } from '#plugins/formats/responses/reply.js';
import { responsesStream } from '#plugins/formats/responses/stream.js';
import type { StoredResponse } from '#src/plugin/format/index.js';
import { end, made, messageStart, refused, text, tool } from './events.js';
import { answers } from './generated.js';
import { checkFailed, checkResponses, type ResponseBody, responseEvents } from './grammar/responses.js';
import { contextOf, fixture, fixtureNames, now, replyOf, sentEvents, streamed, whole } from './streams.js';

const body = { model: 'asked', input: 'Hi', store: false };

const request: ResponsesRequest = {
  id: 'resp_1',
  body,
  include: new Set(),
  tools: new Map([
    ['patch_1', { kind: 'custom', name: 'patch' }],
    ['files__read', { kind: 'function', name: 'read', namespace: 'files' }],
  ]),
  now: () => now,
  keep: async () => undefined,
};

const signed = { type: 'thinking', thinking: 'so', signature: 'ab+/cd==' } as const;
const redacted = { type: 'redacted_thinking', data: 'xyz' } as const;
const thinking = made(
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'ab+/' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'cd==' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: redacted },
  { type: 'content_block_stop', index: 1 },
);

async function answered(
  events: Parameters<typeof replyOf>[0],
  changes: Partial<ResponsesRequest> = {},
): Promise<ResponseBody> {
  const parts: string[] = [];
  for await (const part of responsesStream(replyOf(events).events, { ...request, ...changes }))
    parts.push(part.toString());
  const response = checkResponses(parts.join(''));
  const reply = await responsesReply(replyOf(events).events, { ...request, ...changes });
  expect(JSON.parse(JSON.stringify(reply))).to.deep.equal(response);
  return response;
}

describe('responses replies', () => {
  it('repeat the caller’s settings and fill in the others', async () => {
    const asked = {
      ...body,
      instructions: 'Be brief.',
      reasoning: { effort: 'high' },
      tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }],
      metadata: { a: 'b' },
    };
    const reply = await whole(responses, asked, replyOf([...made(messageStart()), ...end('end_turn')]));
    expect(reply).to.deep.include({
      object: 'response',
      status: 'completed',
      model: 'asked',
      created_at: now / 1000,
      completed_at: now / 1000,
      instructions: 'Be brief.',
      reasoning: { effort: 'high', summary: null },
      tools: [
        { type: 'function', name: 'a', description: null, parameters: null, strict: null },
        { type: 'web_search' },
      ],
      metadata: { a: 'b' },
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      service_tier: 'default',
      store: false,
    });
    expect(reply['id']).to.match(/^resp_[0-9a-f]{32}$/);
    expect(reply['usage']).to.deep.equal({
      input_tokens: 18,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 22,
    });
  });

  for (const [stop, reason] of Object.entries({
    max_tokens: 'max_output_tokens',
    model_context_window_exceeded: 'max_output_tokens',
    refusal: 'content_filter',
  }))
    it(`are incomplete (${reason}) where the message ended with ${stop}, and so is their last message`, async () => {
      const response = await answered([...made(messageStart()), ...text('Hm'), ...end(stop)]);
      expect(response).to.deep.include({
        status: 'incomplete',
        incomplete_details: { reason },
        completed_at: null,
      });
      expect(response.output[0]).to.include({ status: 'incomplete' });
    });

  it('have a new id for a call whose id the history knows', async () => {
    const events = [...made(messageStart()), ...tool('toolu_1', 'f', '{}'), ...end('tool_use')];
    const known = { type: 'function_call', call_id: 'toolu_1', name: 'f', arguments: '{}' };
    const reply = await whole(responses, { ...body, input: [known] }, replyOf(events));
    expect(reply['output']).to.have.nested.property('[0].call_id', 'toolu_1_2');
  });

  it('say why the provider refused, in the message under way or in one of their own', async () => {
    const refusal = { type: 'refusal', refusal: 'Too hot.' };
    const whole = await answered([...made(messageStart()), ...refused('Too hot.')]);
    expect(whole.incomplete_details).to.deep.equal({ reason: 'content_filter' });
    expect(whole.output).to.have.length(1);
    expect(whole.output[0]).to.deep.include({ type: 'message', status: 'incomplete', content: [refusal] });
    const partly = await answered([...made(messageStart()), ...text('I'), ...refused('Too hot.')]);
    expect(partly.output).to.have.length(1);
    expect(partly.output[0]!.content![1]).to.deep.equal(refusal);
    expect((await answered([...made(messageStart()), ...refused(null)])).output).to.deep.equal([]);
  });

  it('join neighbouring text blocks and divide at everything else that shows', async () => {
    const response = await answered([
      ...made(messageStart()),
      ...text('a'),
      ...text('b'),
      ...tool('toolu_1', 'f', '{"x": 1}'),
      ...text('c'),
      ...end('tool_use'),
    ]);
    expect(response.output.map(({ type, content }) => [type, content?.[0]?.text])).to.deep.equal([
      ['message', 'ab'],
      ['function_call', undefined],
      ['message', 'c'],
    ]);
    expect(response.output[1]).to.include({ call_id: 'toolu_1', arguments: '{"x": 1}', status: 'completed' });
  });

  it('carry sealed thinking where the caller asked for it, and not otherwise', async () => {
    const events = [...made(messageStart()), ...thinking, ...end('end_turn')];
    const bare = await answered(events);
    expect(bare.output).to.deep.equal([
      { id: 'rs_1_0', type: 'reasoning', summary: [{ type: 'summary_text', text: 'so' }] },
      { id: 'rs_1_1', type: 'reasoning', summary: [] },
    ]);
    const included = await answered(events, { include: new Set(['reasoning.encrypted_content']) });
    expect(included.output.map(({ encrypted_content }) => encrypted_content)).to.deep.equal([
      sealReasoning(signed),
      sealReasoning(redacted),
    ]);
  });

  it('give custom tools and namespaces back their names', async () => {
    const response = await answered([
      ...made(messageStart()),
      ...tool('toolu_1', 'patch_1', '{"input":', '"*** Begin\\n"}'),
      ...tool('toolu_2', 'files__read', '{}'),
      ...end('tool_use'),
    ]);
    expect(response.output[0]).to.include({
      type: 'custom_tool_call',
      id: 'ctc_1_0',
      call_id: 'toolu_1',
      name: 'patch',
      input: '*** Begin\n',
    });
    expect(response.output[1]).to.include({ type: 'function_call', name: 'read', namespace: 'files' });
  });

  it('call a tool call that was cut incomplete', async function () {
    if (fixtureNames().length === 0) this.skip();
    const response = await answered(fixture('max-tokens-inside-tool-json'));
    expect(response.output.at(-1)).to.include({ type: 'function_call', status: 'incomplete' });
    expect(response.output.at(-1)?.arguments).to.match(/^\{"filename": "taxes\.txt/);
  });

  it('call it incomplete also where the service says that the call is whole', async () => {
    const cut = tool('toolu_1', 'sh', '{"cmd":"rm -rf /tmp/a');
    const response = await answered([...made(messageStart()), ...cut, ...end('tool_use')]);
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(response.output[0]).to.include({ status: 'incomplete', arguments: '{"cmd":"rm -rf /tmp/a' });
  });

  it('show web searches with their query, and their pages where the caller asked for them', async function () {
    if (fixtureNames().length === 0) this.skip();
    const [search, message] = (await answered(fixture('web-search-caller-direct'))).output;
    expect(search).to.deep.include({ type: 'web_search_call', status: 'completed' });
    expect(search?.['action']).to.deep.equal({
      type: 'search',
      query: 'latest stable Ruby version',
      queries: ['latest stable Ruby version'],
    });
    const { text, annotations } = message!.content![0]!;
    const { start_index, end_index } = annotations[0]!;
    expect(text.slice(start_index, end_index)).to.equal('The latest stable Ruby version is 4.0.6');
    const [shown] = (
      await answered(fixture('web-search-caller-direct'), {
        include: new Set(['web_search_call.action.sources']),
      })
    ).output;
    expect(shown).to.have.nested.property('action.sources[0].url').a('string');
  });

  it('end a search that begins again under its id, and one whose result comes before its call is complete', async () => {
    const search = (index: number) =>
      ({
        type: 'content_block_start',
        index,
        content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      }) as const;
    const result = { type: 'web_search_tool_result', tool_use_id: 's', content: [] } as const;
    const events = made(
      messageStart(),
      search(0),
      search(1),
      { type: 'content_block_start', index: 2, content_block: result },
      { type: 'content_block_stop', index: 2 },
      { type: 'content_block_stop', index: 1 },
    );
    const { output } = await answered([...events, ...end('end_turn')]);
    expect(output.map(({ type, status }) => [type, status])).to.deep.equal([
      ['web_search_call', 'failed'],
      ['web_search_call', 'completed'],
    ]);
  });

  it('cite within the message that holds the text, where a call begins before the text is complete', async () => {
    const citation = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A' };
    const [open, piece, close] = text('one');
    const events = [
      ...made(messageStart()),
      ...text('before '),
      open!,
      ...made({ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation } }),
      piece!,
      ...made({ type: 'content_block_start', index: 1, content_block: { ...redacted } }),
      ...made({ type: 'content_block_stop', index: 1 }),
      piece!,
      close!,
    ];
    const { output } = await answered([...events, ...end('end_turn')]);
    expect(output.map(({ type }) => type)).to.deep.equal(['message', 'reasoning', 'message']);
    const [, , last] = output;
    expect(last?.content?.[0]?.annotations[0]).to.include({ start_index: 0, end_index: 3 });
  });

  it('tell of a failure in a response that has what was done before it', async () => {
    const events = [...made(messageStart()), ...tool('toolu_1', 'f', '{}'), ...text('Hm')];
    const overloaded = made({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } });
    const { text: sent } = await streamed(responses, body, replyOf([...events, ...overloaded]));
    const response = checkFailed(sent);
    expect(response['error']).to.deep.equal({ code: 'rate_limit_exceeded', message: 'Slow down.' });
    expect(response.output.map(({ type }) => type)).to.deep.equal(['function_call']);
    expect(sent).to.not.contain('[DONE]');
  });

  it('are folded by the vendor’s library to what they end with', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (events) => {
        const { text } = await streamed(responses, body, replyOf(events));
        const sent = sentEvents(text).filter(({ data }) => data !== '[DONE]');
        const parsed = sent.map(({ data }) => JSON.parse(data) as ResponseStreamEvent);
        type Snapshot = ReturnType<typeof accumulateResponse>;
        let snapshot: Snapshot | undefined;
        for (const event of parsed.slice(0, -1)) snapshot = accumulateResponse(event, snapshot);
        expect(snapshot?.output).to.deep.equal(checkResponses(text).output);
      }),
      { seed: 20_261_103, numRuns: 60 },
    );
  });
});

describe('storing responses', () => {
  const events = [...made(messageStart()), ...thinking, ...text('Hi.'), ...end('end_turn')];

  it('keeps what the caller got, its input and its sealed reasoning, for 30 days', async () => {
    const stored: StoredResponse[] = [];
    const asked = { model: 'asked', input: 'Hi' };
    const reply = await whole(responses, asked, replyOf(events), contextOf(stored));
    expect(stored).to.have.length(1);
    const { response, ...rest } = stored[0]!;
    expect(rest).to.deep.equal({
      id: reply['id'],
      owner: 'key-1',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      expiresAtMs: now + 30 * 24 * 3600 * 1000,
    });
    expect(response['output']).to.have.nested.property('[0].encrypted_content', sealReasoning(signed));
    expect(response).to.deep.equal({ ...reply, output: response['output'] });
  });

  it('happens before the caller hears of the end', async () => {
    const order: string[] = [];
    const keep = async (): Promise<void> => {
      await Promise.resolve();
      order.push('stored');
    };
    for await (const part of responsesStream(replyOf(events).events, { ...request, keep }))
      for (const { type } of responseEvents(part.toString())) order.push(type);
    expect(order.slice(-2)).to.deep.equal(['response.output_item.done', 'response.completed']);
    expect(order[0]).to.equal('stored');
  });

  it('is left out where the caller says so, and after a failure', async () => {
    const stored: StoredResponse[] = [];
    await streamed(responses, body, replyOf(events), contextOf(stored));
    await streamed(responses, { ...body, store: true }, replyOf(events.slice(0, -1)), contextOf(stored));
    expect(stored).to.deep.equal([]);
  });

  it('does not spoil the answer where it fails', async () => {
    const logged: string[] = [];
    const context = contextOf([], new Error('disk full'), logged);
    const { text, error } = await streamed(responses, { ...body, store: true }, replyOf(events), context);
    expect(error).to.equal(undefined);
    expect(checkResponses(text).status).to.equal('completed');
    expect(logged).to.deep.equal(['A response could not be stored.']);
  });
});
