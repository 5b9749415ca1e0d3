import { expect } from 'chai';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import chat from '#plugins/formats/chat/index.js';
import { ChatChoice, chatParts, type ChatRequest } from '#plugins/formats/chat/choice.js';
import { chatReply } from '#plugins/formats/chat/reply.js';
import { chatStream } from '#plugins/formats/chat/stream.js';
import { AnswersReader } from '#plugins/formats/shared/answer/answers.js';
import { foldChat, wholeChat } from './grammar/chat.js';
import { end, made, messageStart, refused, text, tool } from './events.js';
import {
  codeOf,
  fixture,
  fixtureNames,
  modelEvents,
  replyOf,
  sentEvents,
  streamed,
  whole,
} from './streams.js';

const body = { model: 'asked', messages: [] };

const request: ChatRequest = {
  model: 'asked',
  created: 1,
  n: 1,
  includeUsage: false,
  isLegacy: false,
  tools: new Map(),
};

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk.toString(); // whole events
  return text;
}

describe('chat replies', () => {
  it('carry the name that the caller gave the model, and an id made of the message’s', async () => {
    const reply = await whole(chat, body, replyOf([...made(messageStart([], 'msg_9')), ...end('end_turn')]));
    expect(reply).to.include({ id: 'chatcmpl-9', model: 'asked', created: 1_790_000_000 });
  });

  it('count what was read from the cache and written to it among the prompt tokens', async () => {
    const reply = await whole(chat, body, replyOf([...made(messageStart()), ...end('end_turn')]));
    expect(reply['usage']).to.deep.equal({
      prompt_tokens: 18,
      completion_tokens: 4,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });

  it('are cut, with the text of the arguments as it came, where a tool call is cut', async () => {
    const cut = tool('toolu_1', 'sh', '{"cmd":"rm -rf /tmp/a');
    const reply = await whole(chat, body, replyOf([...made(messageStart()), ...cut, ...end('tool_use')]));
    expect(reply).to.have.nested.property('choices[0].finish_reason', 'length');
    expect(reply).to.have.nested.property(
      'choices[0].message.tool_calls[0].function.arguments',
      '{"cmd":"rm -rf /tmp/a',
    );
  });

  for (const [what, before, content] of [
    ['nothing', [], null],
    ['a part of an answer', text('I'), 'I'],
  ] as const)
    it(`say why the provider refused, after ${what}`, async () => {
      const events = [...made(messageStart()), ...before, ...refused('Too 🔥.')];
      const reply = await whole(chat, body, replyOf(events));
      expect(reply).to.have.nested.property('choices[0].finish_reason', 'content_filter');
      expect(reply['choices'])
        .to.have.nested.property('[0].message')
        .that.includes({ content, refusal: 'Too 🔥.' });
      const folded = foldChat((await streamed(chat, body, replyOf(events))).text, { usage: false });
      expect(folded.choices[0]!.message).to.include({ content, refusal: 'Too 🔥.' });
    });

  it('have a new id for a call whose id the history knows, whole and streamed', async () => {
    const known = { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '' } };
    const asked = {
      model: 'asked',
      messages: [{ role: 'assistant', tool_calls: [known, { function: null }] }],
    };
    const calls = [
      ...tool('toolu_1', 'f', '{}'),
      ...tool('toolu_1', 'f', '{}'),
      ...tool('toolu_9', 'f', '{}'),
    ];
    const events = [...made(messageStart()), ...calls, ...end('tool_use')];
    const { choices } = foldChat((await streamed(chat, asked, replyOf(events))).text, { usage: false });
    const ids = choices[0]!.message.tool_calls!.map(({ id }) => id);
    expect(ids).to.deep.equal(['toolu_1_2', 'toolu_1_3', 'toolu_9']);
    const { choices: folded } = wholeChat(await whole(chat, asked, replyOf(events)));
    expect(folded[0]!.message.tool_calls!.map(({ id }) => id)).to.deep.equal(ids);
  });

  it('have no refusal where the provider does not say why', async () => {
    const events = [...made(messageStart()), ...refused(null)];
    expect(await whole(chat, body, replyOf(events))).to.have.nested.property(
      'choices[0].message.refusal',
      null,
    );
  });

  for (const [reason, finish] of Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'length',
    constructor: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
  }))
    it(`end with ${finish} where the message ended with ${reason}`, async () => {
      const { text } = await streamed(chat, body, replyOf([...made(messageStart()), ...end(reason)]));
      expect(foldChat(text, { usage: false }).choices[0]?.finish_reason).to.equal(finish);
    });

  it('number tool calls from 0 whatever stood before them', async () => {
    const events = [
      ...made(messageStart()),
      ...text('Hm. '),
      ...tool('toolu_1', 'a', '', '{"x":', '1}'),
      ...tool('toolu_2', 'b', ''),
      ...end('tool_use'),
    ];
    const { text: sent } = await streamed(chat, body, replyOf(events));
    expect(foldChat(sent, { usage: false }).choices[0]?.message).to.deep.equal({
      content: 'Hm. ',
      tool_calls: [
        { id: 'toolu_1', type: 'function', name: 'a', text: '{"x":1}' },
        { id: 'toolu_2', type: 'function', name: 'b', text: '{}' },
      ],
      annotations: [],
    });
  });

  it('have the calls of a message that came whole in its start', async function () {
    if (fixtureNames().length === 0) this.skip();
    const { text } = await streamed(chat, body, replyOf(fixture('programmatic-tool-calling-resume')));
    const [choice] = foldChat(text, { usage: false }).choices;
    expect(choice?.message.tool_calls).to.deep.equal([
      {
        id: 'toolu_015dGLMbwBKv1ZRQr6KdJzeH',
        type: 'function',
        name: 'rollDie',
        text: '{"player":"player2"}',
      },
    ]);
    expect(choice?.finish_reason).to.equal('tool_calls');
  });

  it('unwrap the text of custom tools', async () => {
    const events = [
      ...made(messageStart()),
      ...tool('toolu_1', 'patch_1', '{"input":"*** Be', 'gin\\n"}'),
      ...end('tool_use'),
    ];
    const tools = new Map([['patch_1', { kind: 'custom', name: 'patch' }]] as const);
    const sent = await textOf(chatStream(replyOf(events).events, { ...request, tools }));
    const calls = [{ id: 'toolu_1', type: 'custom', name: 'patch', text: '*** Begin\n' }];
    expect(foldChat(sent, { usage: false }).choices[0]?.message.tool_calls).to.deep.equal(calls);
    const reply = await chatReply(replyOf(events).events, { ...request, tools });
    expect(wholeChat(reply).choices[0]?.message.tool_calls).to.deep.equal(calls);
  });

  it('tell a caller of the older `functions` of one function call', async () => {
    const events = [
      ...made(messageStart()),
      ...tool('toolu_1', 'a', '{"x":1}'),
      ...tool('toolu_2', 'b', '{}'),
      ...end('tool_use'),
    ];
    const legacy = { ...body, functions: [{ name: 'a' }] };
    const folded = foldChat((await streamed(chat, legacy, replyOf(events))).text, { usage: false });
    expect(folded.choices[0]).to.deep.equal({
      message: { content: null, function_call: { name: 'a', arguments: '{"x":1}' }, annotations: [] },
      finish_reason: 'function_call',
    });
    const reply = wholeChat(await whole(chat, legacy, replyOf(events)));
    expect(reply.choices).to.deep.equal(folded.choices);
  });

  it('keep the thinking’s signature in the details, byte for byte', async () => {
    const events = made(
      messageStart(),
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'ab+/' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'cd==' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'xyz' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_stop' },
    );
    const { text } = await streamed(chat, body, replyOf(events));
    expect(foldChat(text, { usage: false }).choices[0]?.message).to.deep.include({
      reasoning_content: 'so',
      reasoning_details: [
        { type: 'reasoning.text', text: 'so', signature: 'ab+/cd==', index: 0 },
        { type: 'reasoning.encrypted', data: 'xyz', index: 1 },
      ],
    });
  });

  it('give the place of a cited passage in the whole text', async function () {
    if (fixtureNames().length === 0) this.skip();
    const reply = await whole(chat, body, replyOf(fixture('web-search-caller-direct')));
    const message = wholeChat(reply).choices[0]!.message;
    const [first] = message.annotations as { url_citation: { start_index: number; end_index: number } }[];
    const { start_index, end_index } = first!.url_citation;
    expect(message.content?.slice(start_index, end_index)).to.equal(
      'The latest stable Ruby version is 4.0.6',
    );
  });

  it('wait for the second half of a character', async () => {
    const [high, low] = '🏆'.split('');
    const events = made(
      messageStart(),
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `a${high}` } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `${low}b` } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `c${high}` } },
      { type: 'message_stop' },
    );
    const { text } = await streamed(chat, body, replyOf(events));
    const contents = [...text.matchAll(/"content":("[^"]*")/g)].map(
      ([, json]) => JSON.parse(json!) as string,
    );
    expect(contents).to.deep.equal(['', 'a', '🏆b', 'c', high]);
  });

  it('mingle the chunks of several choices, with one id, and sum their usage', async () => {
    const first = [...made(messageStart([], 'msg_a')), ...text('one'), ...end('end_turn')];
    const second = [...made(messageStart([], 'msg_b')), ...text('two'), ...end('max_tokens')].map((event) =>
      event.withChoice(1),
    );
    const mingled = first.flatMap((event, at) => [second[at]!, event]);
    const two = { ...body, n: 2, stream_options: { include_usage: true } };
    const folded = foldChat((await streamed(chat, two, replyOf(mingled))).text, { usage: true });
    expect(folded.id).to.equal('chatcmpl-b');
    expect(
      folded.choices.map(({ message, finish_reason }) => [message.content, finish_reason]),
    ).to.deep.equal([
      ['one', 'stop'],
      ['two', 'length'],
    ]);
    expect(folded.usage).to.include({ prompt_tokens: 36, completion_tokens: 8 });
    expect(wholeChat(await whole(chat, two, replyOf(mingled)))).to.deep.equal(folded);
  });

  it('are not complete before all choices are', async () => {
    const events = [...made(messageStart()), ...text('one'), ...end('end_turn')];
    const { text: sent, error } = await streamed(chat, { ...body, n: 2 }, replyOf(events));
    expect(error).to.have.property('code', 'upstream_interrupted');
    expect(sent).to.not.contain('[DONE]');
    expect(await codeOf(whole(chat, { ...body, n: 2 }, replyOf(events)))).to.equal('upstream_interrupted');
  });

  it('skip events, blocks and deltas of unknown types without parsing them', () => {
    const deltas: object[] = [];
    const sink = {
      start: () => undefined,
      end: () => undefined,
      delta: (_: number, delta: object) => deltas.push(delta),
      text: (_: number, content: string) => deltas.push({ content }),
    };
    const answers = new AnswersReader(1, chatParts, (index) => new ChatChoice(index, request, sink));
    const unknown = 'event: novelty\ndata: this is not JSON\n\nevent: toString\ndata: nor is this\n\n';
    for (const event of modelEvents(unknown)) answers.add(event);
    expect(deltas).to.deep.equal([]);
  });

  it('hold any text as JSON would have it', async () => {
    const texts = ['"', '\\', '\n\r\u2028', '\0\x1f', 'ä字😀', '</script>', 'data: x'];
    for (const some of texts) {
      const events = [...made(messageStart()), ...text(`a${some}b`), ...end('end_turn')];
      const sent = await streamed(chat, body, replyOf(events));
      const data = sentEvents(sent.text).map((event) => event.data);
      for (const json of data.slice(0, -1))
        expect(JSON.stringify(JSON.parse(json)).replaceAll('\u2028', '\\u2028')).to.equal(json);
      expect(foldChat(sent.text, { usage: false }).choices[0]!.message.content).to.equal(`a${some}b`);
    }
  });

  it('are read by the vendor’s stream helper', async function () {
    if (fixtureNames().length === 0) this.skip();
    for (const name of ['text-then-two-tools', 'thinking-then-tool-use', 'web-search-thinking-citations']) {
      const { text } = await streamed(chat, body, replyOf(fixture(name)));
      const chunks = sentEvents(text).filter(({ data }) => data !== '[DONE]');
      const lines = new Blob(chunks.map(({ data }) => `${data}\n`)).stream();
      const final = await ChatCompletionStream.fromReadableStream(lines).finalMessage();
      const expected = foldChat(text, { usage: false }).choices[0]!.message;
      expect([final.content ?? '', final.tool_calls?.length]).to.deep.equal([
        expected.content ?? '',
        expected.tool_calls?.length,
      ]);
    }
  });
});
