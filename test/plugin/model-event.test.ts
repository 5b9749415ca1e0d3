import { expect } from 'chai';
import { ModelEvent } from '@gw2api/gateway/plugin';

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
};

function parse(type: string, json: object): unknown {
  return new ModelEvent(type, JSON.stringify(json)).json;
}

describe('the value of an event', () => {
  const broken: readonly (readonly [fault: string, json: { readonly type: string }])[] = [
    ['message', { type: 'message_start' }],
    ['message.content', { type: 'message_start', message: { ...message, content: 'Hi' } } as never],
    ['message.content.0.type', { type: 'message_start', message: { ...message, content: [{}] } } as never],
    ['message.id', { type: 'message_start', message: { ...message, id: 7 } } as never],
    ['message.usage', { type: 'message_start', message: { ...message, usage: [] } } as never],
    [
      'message.usage.input_tokens',
      { type: 'message_start', message: { ...message, usage: { input_tokens: '7' } } } as never,
    ],
    ['index', { type: 'content_block_start', content_block: { type: 'text', text: '' } } as never],
    ['content_block', { type: 'content_block_start', index: 0, content_block: null } as never],
    [
      'content_block.name',
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't' } } as never,
    ],
    [
      'delta.text',
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: {} } } as never,
    ],
    ['delta.type', { type: 'content_block_delta', index: 0, delta: {} } as never],
    ['delta', { type: 'message_delta' }],
    ['delta.stop_reason', { type: 'message_delta', delta: { stop_reason: 1 } } as never],
  ];

  for (const [fault, json] of broken)
    it(`is refused where "${fault}" is not what it should be`, () => {
      expect(() => parse(json.type, json))
        .to.throw(`The upstream sent a "${json.type}" event with an invalid "${fault}".`)
        .with.property('code', 'upstream_interrupted');
    });

  it('is refused where it is called something else than it says', () => {
    expect(() => parse('ping', { type: 'message_stop' })).to.throw('with an invalid "type"');
  });

  it('is refused with a count that is more than any number', () => {
    const data = '{"type":"message_delta","delta":{},"usage":{"output_tokens":1e999}}';
    expect(() => new ModelEvent('message_delta', data).json).to.throw('"usage.output_tokens"');
  });

  it('is refused where it is no object, or nested too deeply to be written again', () => {
    for (const data of ['', 'oops', 'null', '7', '"x"'])
      expect(() => new ModelEvent('ping', data).json).to.throw('that is not a JSON object');
    const deep = `{"type":"ping","x":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(() => new ModelEvent('ping', deep).json).to.throw('nested too deeply');
  });

  it('is taken with types of events, blocks and deltas that nobody knows, and fields that may be left out', () => {
    const valid = [
      { type: 'news', delta: 7 },
      { type: 'content_block_start', index: 0, content_block: { type: 'compaction' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: null } },
      { type: 'content_block_delta', index: 0, delta: { type: 'some_delta', text: 7 } },
      { type: 'message_start', message },
      { type: 'message_delta', delta: {}, usage: null },
    ];
    for (const json of valid) expect(parse(json.type, json)).to.deep.equal(json);
  });

  it('has the type that the event was called by where it says none itself', () => {
    expect(parse('ping', {})).to.deep.equal({ type: 'ping' });
  });

  it('says what an event without a name is; a bare error is an error', () => {
    expect(ModelEvent.unnamed('{"type":"ping"}')).to.include({ type: 'ping', data: '{"type":"ping"}' });
    expect(ModelEvent.unnamed('{"error":"No."}')).to.include({ type: 'error' });
    expect(ModelEvent.unnamed('{}')).to.include({ type: 'message' });
  });
});
