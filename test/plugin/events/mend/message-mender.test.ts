import { expect } from 'chai';
import { foldMessage, EventStream, type ModelEvent } from '#src/plugin/index.js';
import { MessageReader } from '#src/engine/transport/events/message-reader.js';

type Json = Readonly<Record<string, unknown>>;

const usage = { input_tokens: 10, output_tokens: 1 };
const start = (fields: Json = {}) => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
    ...fields,
  },
});
const block = (index: number, content_block: Json = { type: 'text', text: '' }) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, fields: Json) => ({ type: 'content_block_delta', index, delta: fields });
const text = (index: number, piece: string) => delta(index, { type: 'text_delta', text: piece });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason = 'end_turn', fields: Json = { usage: { output_tokens: 4 } }) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, ...fields },
  { type: 'message_stop' },
];
const use = { type: 'tool_use', id: 'a', name: 'f', input: {} };

/** Escapes every other character than ASCII, as some services do. */
function escaped(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function read(...sent: readonly object[]) {
  const reader = new MessageReader(400);
  const lines = sent.map(
    (each) => `event: ${'type' in each ? String(each.type) : ''}\ndata: ${escaped(each)}\n\n`,
  );
  const events: readonly ModelEvent[] = reader.read(Buffer.from(lines.join('')));
  return { events, reader };
}

function folded(...sent: readonly object[]) {
  async function* batches() {
    yield read(...sent).events;
  }
  return foldMessage(EventStream.from(batches()));
}

const typesOf = (events: readonly ModelEvent[]) => events.map(({ type }) => type);

describe('a stream that only resembles the Messages API', () => {
  it('passes as it came where nothing is wrong with it', () => {
    const sent = [start(), block(0), text(0, 'Hi'), stop(0), block(1, use), stop(1), ...end('tool_use')];
    expect(read(...sent).events.map(({ data }) => data)).to.deep.equal(sent.map(escaped));
  });

  it('has an id and usage of all keys where it has none, estimated and marked', async () => {
    for (const missing of [{ id: null }, { id: undefined }])
      expect((await folded(start(missing), block(0), text(0, 'Hi'), stop(0), ...end())).id).to.match(
        /^msg_\w{32}$/,
      );
    for (const none of [undefined, null]) {
      const sent = [
        start({ usage: none }),
        block(0),
        text(0, 'Hello, World'),
        stop(0),
        ...end('end_turn', {}),
      ];
      expect((await folded(...sent)).usage).to.deep.equal({
        input_tokens: 100,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 3,
        estimated: true,
      });
    }
    const late = { usage: { input_tokens: 7.25, output_tokens: 4.5 } };
    const counted = await folded(
      start({ usage: null }),
      block(0),
      text(0, 'a'),
      stop(0),
      ...end('end_turn', late),
    );
    expect(counted.usage).to.include({ input_tokens: 7, output_tokens: 5 });
    expect(counted.usage).not.to.have.property('estimated');
  });

  it('has whole counts', async () => {
    const message = await folded(
      start({
        usage: { input_tokens: 7.25, output_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 1.5 } },
      }),
      block(0),
      text(0, 'a'),
      stop(0),
      ...end('end_turn', { usage: { output_tokens: 2.4 } }),
    );
    expect(message.usage).to.deep.equal({
      input_tokens: 7,
      output_tokens: 2,
      cache_creation: { ephemeral_5m_input_tokens: 2 },
    });
  });

  it('waits for the results of its calls', async () => {
    const message = await folded(start(), block(0, use), stop(0), ...end('end_turn'));
    expect(message.stop_reason).to.equal('tool_use');
  });

  it('has blocks for the deltas that came before them', async () => {
    const sent = [start(), text(0, 'Hel'), block(0), text(0, 'lo'), stop(0), ...end()];
    expect(typesOf(read(...sent).events).slice(1, 5)).to.deep.equal([
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
    ]);
    expect((await folded(...sent)).content).to.deep.equal([{ type: 'text', text: 'Hello' }]);
    const json = delta(0, { type: 'input_json_delta', partial_json: '{"x":1}' });
    const called = await folded(start(), json, block(0, use), stop(0), ...end('tool_use'));
    expect(called.content[0]).to.deep.include({ name: 'f', input: { x: 1 } });
    const { reader } = read(start(), json, ...end('tool_use'));
    expect(reader.failure).to.include({ code: 'upstream_invalid_response' });
  });

  it('has an index for each block where all have the first one', async () => {
    for (const between of [[stop(0)], []]) {
      const sent = [
        start(),
        block(0),
        text(0, 'a'),
        ...between,
        block(0, use),
        delta(0, { type: 'input_json_delta', partial_json: '{}' }),
        ...between,
        block(0),
        text(0, 'b'),
        stop(0),
        ...end('tool_use'),
      ];
      const { events } = read(...sent);
      const starts = events.map(({ json }) => json).filter(({ type }) => type === 'content_block_start');
      expect(starts.map((each) => 'index' in each && each.index)).to.deep.equal([0, 1, 2]);
      expect(typesOf(events).filter((type) => type === 'content_block_stop')).to.have.length(3);
      const { content } = await folded(...sent);
      expect(content.map((each) => each['text'] ?? each['input'])).to.deep.equal(['a', {}, 'b']);
    }
  });

  it('has whole surrogate pairs in each delta', () => {
    const [high, low] = ['\ud83d', '\ude00'];
    const { events } = read(
      start(),
      block(0),
      text(0, `a${high}`),
      text(0, `${low}b`),
      text(0, high),
      stop(0),
      ...end(),
    );
    const pieces = events.flatMap(({ json }) =>
      json.type === 'content_block_delta' && json.delta.type === 'text_delta' ? [json.delta.text] : [],
    );
    expect(pieces).to.deep.equal(['a', `${high}${low}b`, high]);
  });

  it('may start anew before its first content', async () => {
    const sent = [start(), block(0), start({ id: 'msg_2' }), block(0), text(0, 'Hi'), stop(0), ...end()];
    const { events } = read(...sent);
    expect(typesOf(events).filter((type) => type === 'message_start')).to.have.length(1);
    expect((await folded(...sent)).content).to.deep.equal([{ type: 'text', text: 'Hi' }]);
  });

  it('is an error where it starts anew after content, and has nothing twice', () => {
    const { events, reader } = read(
      start(),
      block(0),
      text(0, 'Hi'),
      start(),
      block(0),
      text(0, 'Hi'),
      ...end(),
    );
    expect(typesOf(events)).to.deep.equal(['message_start', 'content_block_start', 'content_block_delta']);
    expect(reader.failure).to.include({ code: 'upstream_invalid_response' });
  });
});
