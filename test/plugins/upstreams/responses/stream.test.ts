import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import responses from '#plugins/formats/responses/index.js';
import { ResponseEvents } from '#plugins/upstreams/responses/stream/response-events.js';
import { ToolNames } from '#plugins/upstreams/shared/openai/tool-names.js';
import { openReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { isGatewayError, type ContentBlock, type ModelEvent } from '#src/plugin/index.js';
import { contextWith } from '../../formats/contexts.js';
import { toldUsage } from '../shared/told-usage.js';
import { answers } from '../../formats/generated.js';
import { replyOf } from '../../formats/streams.js';
import { messageOf, streamOf, translated } from './answers.js';

const folder = join(process.cwd(), '../shared/fixtures/responses-streams');

const text = (index: number, ...deltas: readonly string[]) => [
  { type: 'response.output_item.added', output_index: index, item: { type: 'message', content: [] } },
  ...deltas.map((delta) => ({ type: 'response.output_text.delta', output_index: index, delta })),
];
const done = (index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
});
const created = { type: 'response.created', response: { id: 'msg_1', model: 'gpt' } };
const completed = (fields: object = {}) => ({ type: 'response.completed', response: { ...fields } });
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: '{"at":"it"}',
};

function failure(stream: string): unknown {
  try {
    translated(stream);
  } catch (error) {
    return error;
  }
  return expect.fail('It did not fail.');
}

describe('a Responses stream as Messages events', () => {
  it('has an estimated usage until, and unless, the server counts: what was abandoned is not free', async () => {
    const begun = [created, ...text(0, 'Hello, ', 'World')];
    const [start] = translated(streamOf(...begun, completed()));
    expect(start!.json).to.have.deep.nested.include({
      'message.usage.input_tokens': 100,
      'message.usage.output_tokens': 0,
    });
    for (const usage of [undefined, null, {}, { input_tokens: 0, output_tokens: 0 }]) {
      const message = await messageOf(translated(streamOf(...begun, completed({ usage }))));
      expect(toldUsage(message.usage)).to.deep.equal({
        input_tokens: 100,
        output_tokens: 3,
        estimated: true,
      });
    }
    const usage = { input_tokens: 0, output_tokens: 7 };
    const counted = await messageOf(translated(streamOf(...begun, completed({ usage }))));
    expect(toldUsage(counted.usage)).to.deep.equal(usage);
  });

  it('has text, the stop reason and the usage, without what was read from the cache', async () => {
    const usage = {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
    };
    const message = await messageOf(
      translated(
        streamOf(created, ...text(0, 'Hel', 'lo'), done(0, { type: 'message' }), completed({ usage })),
      ),
    );
    expect(message).to.deep.include({ id: 'msg_1', model: 'gpt', stop_reason: 'end_turn' });
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hello' }]);
    expect(toldUsage(message.usage)).to.deep.equal({
      input_tokens: 10,
      cache_read_input_tokens: 20,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
    });
  });

  it('has tool calls by their call id, streamed or whole at their end', async () => {
    const added = { type: 'response.output_item.added', output_index: 0, item: { ...call, arguments: '' } };
    const delta = (delta: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta,
    });
    const block = { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } };
    for (const events of [
      [added, delta('{"at":'), delta('"it"}'), done(0, call)],
      [added, done(0, call)],
      [done(0, call)],
    ]) {
      const message = await messageOf(translated(streamOf(created, ...events, completed())));
      expect(message).to.deep.include({ content: [block], stop_reason: 'tool_use' });
    }
  });

  it('is cut where the arguments of a call are, whatever its server says', async () => {
    const cut = { ...call, arguments: '{"cmd":"rm -rf /tmp/a' };
    const { arguments: delta, ...begun } = cut;
    const added = { type: 'response.output_item.added', output_index: 0, item: begun };
    const piece = { type: 'response.function_call_arguments.delta', output_index: 0, delta };
    for (const events of [
      [added, piece, done(0, cut)],
      [added, piece],
      [done(0, cut)],
      [done(0, { ...call, status: 'incomplete' })],
    ]) {
      const message = await messageOf(translated(streamOf(created, ...events, completed())));
      expect(message.stop_reason).to.equal('max_tokens');
    }
  });

  it('has calls whose arguments are an object, or whose name comes at their end', async () => {
    const object = done(0, { ...call, arguments: { at: 'it' } });
    const { name: _, ...nameless } = call;
    const added = { type: 'response.output_item.added', output_index: 0, item: { ...nameless, name: '' } };
    const piece = { type: 'response.function_call_arguments.delta', output_index: 0, delta: call.arguments };
    for (const events of [[object], [added, piece, done(0, call)]]) {
      const message = await messageOf(translated(streamOf(created, ...events, completed())));
      expect(message.content[0]).to.deep.include({ name: 'look', input: { at: 'it' } });
      expect(message.stop_reason).to.equal('tool_use');
    }
  });

  it('fails where a call has arguments and never a name; one of neither is nothing', async () => {
    const unnamed = done(0, { ...call, name: '' });
    expect(failure(streamOf(created, unnamed, completed()))).to.have.property('code', 'upstream_interrupted');
    const nothing = done(0, { ...call, name: '', arguments: '' });
    const message = await messageOf(translated(streamOf(created, ...text(1, 'Hi'), nothing, completed())));
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hi' }]);
    expect(message.stop_reason).to.equal('end_turn');
  });

  it('ends as the words of its server say', async () => {
    for (const [status, reason, stop] of [
      ['incomplete', 'max_output_tokens', 'max_tokens'],
      ['incomplete', 'length', 'max_tokens'],
      ['incomplete', 'content-filter', 'refusal'],
      ['incomplete', 'something new', 'max_tokens'],
      ['incomplete', undefined, 'max_tokens'],
      ['completed', undefined, 'end_turn'],
    ] as const) {
      const response = { status, incomplete_details: reason === undefined ? null : { reason } };
      const message = await messageOf(translated(streamOf(created, ...text(0, 'a'), completed(response))));
      expect(message.stop_reason, `${status} ${reason}`).to.equal(stop);
    }
    for (const status of ['cancelled', 'failed'])
      expect(failure(streamOf(created, ...text(0, 'a'), completed({ status })))).to.have.property(
        'status',
        502,
      );
  });

  it('counts the input of a prompt that is smaller than what was read from the cache', async () => {
    const usage = { input_tokens: 7, output_tokens: 2.5, input_tokens_details: { cached_tokens: 161 } };
    const message = await messageOf(translated(streamOf(created, ...text(0, 'a'), completed({ usage }))));
    expect(toldUsage(message.usage)).to.deep.equal({
      input_tokens: 7,
      output_tokens: 3,
      cache_read_input_tokens: 161,
    });
  });

  it('has tools by the caller\u2019s names', async () => {
    const names = new ToolNames();
    const long = `mcp__${'x'.repeat(80)}`;
    const events = [created, done(0, { ...call, name: names.short(long) }), completed()];
    expect((await messageOf(translated(streamOf(...events), names))).content[0]).to.include({ name: long });
  });

  it('keeps items apart whose events mingle', async () => {
    const [added, ...deltas] = text(1, 'a', 'b');
    const second = { type: 'response.output_item.added', output_index: 2, item: { ...call } };
    const events = [added!, second, done(2, call), ...deltas, done(1, { type: 'message' })];
    const message = await messageOf(translated(streamOf(created, ...events, completed())));
    expect(message.content.map(({ type }) => type)).to.deep.equal(['text', 'tool_use']);
  });

  it('has encrypted reasoning in an envelope for its vendor, the summary as its text', async () => {
    const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA', summary: [] };
    const part = { type: 'response.reasoning_summary_part.added', output_index: 0 };
    const summary = (delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      delta,
    });
    const events = [part, summary('First.'), part, summary('Then.'), done(0, item)];
    const message = await messageOf(translated(streamOf(created, ...events, completed())));
    const [block] = message.content as unknown as readonly [{ thinking: string; signature: string }];
    expect(block).to.include({ type: 'thinking', thinking: 'First.\n\nThen.' });
    expect(openReasoning(block.signature)).to.deep.equal({
      vendor: 'slot-a',
      data: { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
    });
    const silent = await messageOf(translated(streamOf(created, done(0, item), completed())));
    expect(silent.content[0]).to.include({ type: 'thinking', thinking: '' });
    const { encrypted_content: _, ...open } = item;
    expect(
      (await messageOf(translated(streamOf(created, done(0, open), completed())))).content,
    ).to.have.length(0);
  });

  it('says why an answer is incomplete, and that it was refused', async () => {
    const ended = async (reason: string) => {
      const response = { incomplete_details: { reason } };
      return (await messageOf(translated(streamOf(created, { type: 'response.incomplete', response }))))
        .stop_reason;
    };
    expect(await ended('max_output_tokens')).to.equal('max_tokens');
    expect(await ended('content_filter')).to.equal('refusal');
    const refusal = { type: 'response.refusal.delta', output_index: 0, delta: 'No.' };
    const said = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
      content: [],
    };
    expect(await messageOf(translated(streamOf(created, refusal, completed())))).to.deep.include(said);
    const content = [{ type: 'refusal', refusal: 'No.' }];
    const whole = completed({ output: [{ type: 'message', id: 'm', content }] });
    expect(await messageOf(translated(streamOf(created, whole)))).to.deep.include(said);
  });

  it('has the items of the response where no event has brought them', async () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }, call];
    const message = await messageOf(translated(streamOf(created, completed({ output }))));
    expect(message.content.map(({ type }) => type)).to.deep.equal(['text', 'tool_use']);
    const whole: ModelEvent[] = [];
    new ResponseEvents({
      model: 'gpt',
      vendor: 'slot-a',
      names: new ToolNames(),
      requestBytes: 400,
    }).readWhole({ id: 'resp_2', output }, whole, JSON.stringify({ id: 'resp_2', output }));
    expect((await messageOf(whole)).content).to.deep.equal(message.content);
  });

  it('has calls that only the end of their item, or of the response, has', async () => {
    const other = { ...call, id: 'fc_2', call_id: 'call_2' };
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] };
    const added = (item: object) => ({ type: 'response.output_item.added', output_index: 1, item });
    const { output_index: _, ...unnumbered } = done(0, call);
    const spoken = text(0, 'Hi');
    for (const events of [
      [...spoken, completed({ output: [message, call] })],
      [...spoken, done(0, message), completed({ output: [message, call] })],
      [...spoken, added({ ...call, arguments: '' }), completed({ output: [message, call] })],
      [...spoken, added({ ...call, arguments: '' }), done(1, call), completed({ output: [message, call] })],
      [
        ...spoken,
        added({ ...call, arguments: '' }),
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"at":' },
        completed({ output: [message, call] }),
      ],
      [...spoken, done(1, call), completed()],
      [
        ...spoken,
        done(0, message),
        added({ ...call, arguments: '' }),
        { type: 'response.function_call_arguments.done', output_index: 1, arguments: call.arguments },
        completed(),
      ],
      [...spoken.map((event) => ({ ...event, output_index: undefined })), unnumbered, completed()],
      [done(0, call), completed({ output: [message, call] })],
    ]) {
      const { content, stop_reason } = await messageOf(translated(streamOf(created, ...events)));
      const calls = content.filter(({ type }) => type === 'tool_use');
      expect(calls, JSON.stringify(events)).to.deep.equal([
        { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
      ]);
      expect(said(content).text).to.equal('Hi');
      expect(stop_reason).to.equal('tool_use');
    }
    const both = [created, done(0, call), completed({ output: [call, other] })];
    const ids = (await messageOf(translated(streamOf(...both)))).content.map((block) => block['id']);
    expect(ids).to.deep.equal(['call_1', 'call_2']);
  });

  it('cites the pages of its annotations, each once', async () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://a.example/1',
      title: 'One',
      start_index: 0,
      end_index: 2,
    };
    const file = { type: 'file_citation', file_id: 'file_1', index: 1 };
    const untitled = { ...annotation, url: 'https://a.example/2', title: null };
    const part = { type: 'output_text', text: 'Hi', annotations: [annotation, file, untitled] };
    const added = [annotation, file, untitled].map((each, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      output_index: 0,
      annotation_index,
      annotation: each,
    }));
    const item = { type: 'message', content: [part] };
    for (const events of [
      [...text(0, 'Hi'), ...added, done(0, item), completed({ output: [item] })],
      [...text(0, 'Hi'), done(0, item), completed({ output: [item] })],
      [...text(0, 'Hi'), completed({ output: [item] })],
      [completed({ output: [item] })],
    ]) {
      const { content } = await messageOf(translated(streamOf(created, ...events)));
      const cited = [
        ['https://a.example/1', 'One'],
        ['https://a.example/2', 'https://a.example/2'],
      ].map(([url, title]) => ({
        type: 'web_search_result_location',
        url,
        title,
        cited_text: '',
        encrypted_index: '',
      }));
      expect(content).to.deep.equal([{ type: 'text', text: 'Hi', citations: cited }]);
    }
  });

  it('fails with the error of the response, at the status of its code', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    for (const event of [
      { type: 'error', ...error },
      { type: 'error', error },
      { type: 'response.failed', response: { error } },
    ])
      expect(failure(streamOf(created, event))).to.include({ ...error, status: 429 });
  });

  it('fails where it ends early, or is no JSON', () => {
    expect(failure(streamOf(created, ...text(0, 'Hel')))).to.include({ code: 'upstream_interrupted' });
    expect(failure('event: response.created\ndata: {oops\n\n')).to.include({ code: 'upstream_interrupted' });
  });

  it('is read from real recordings', async function recorded() {
    if (!existsSync(folder)) this.skip();
    for (const name of readdirSync(folder)) {
      const stream = readFileSync(join(folder, name), 'utf8');
      if (name.startsWith('error-event')) {
        expect(isGatewayError(failure(stream)), name).to.equal(true);
        continue;
      }
      const message = await messageOf(translated(stream));
      expect(message.stop_reason, name).to.be.a('string');
      expect(message.usage.output_tokens, name).to.be.above(0);
    }
  });

  it('says what our own Responses answers say', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (events) => {
        const body = { model: 'gpt', input: 'Hi', store: false, include: ['reasoning.encrypted_content'] };
        const encoder = await responses.encoder(body, contextWith());
        let stream = '';
        for await (const piece of encoder.stream(replyOf(events, []))) stream += String(piece);
        const [before, after] = [await messageOf(events), await messageOf(translated(stream))];
        expect(said(after.content)).to.deep.equal(said(before.content));
        expect(after.usage.output_tokens).to.equal(before.usage.output_tokens);
        expect(after.stop_reason === 'max_tokens').to.equal(before.stop_reason === 'max_tokens');
      }),
      { numRuns: 200 },
    );
  });
});

/** Texts and calls of an answer; thinking is sealed on its way. */
function said(content: readonly ContentBlock[]) {
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    thinking: content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input]] : [])),
  };
}
