import { expect } from 'chai';
import {
  asForcedTool,
  EventStream,
  ModelEvent,
  type MessagesRequest,
  type MessagesStreamEvent,
  type SlotCall,
  type Tool,
} from '#src/plugin/index.js';
import { withFittedSchemas } from '#plugins/upstreams/shared/messages/anthropic-schemas.js';
import { frozen } from '../../formats/contexts.js';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const object = (properties: Schema, more: object = {}): Schema => ({ type: 'object', properties, ...more });
const closed = object({ a: text }, { required: ['a'], additionalProperties: false });
const taken = { strictTools: true, structuredOutput: true };
const refused = { strictTools: false, structuredOutput: false };

function fitted(fields: Partial<MessagesRequest>, { isTranslated = true, options = taken } = {}) {
  const request = frozen({ model: 'm', messages: [{ role: 'user', content: 'hi' } as const], ...fields });
  const call: SlotCall = {
    request,
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 1,
    idleTimeoutMs: 1,
    isTranslated,
  };
  const { call: sent, losses, keys } = withFittedSchemas(call, options);
  return { given: request, request: sent.request, losses, keys };
}

const strict = (name: string, input_schema: Schema = closed): Tool => ({ name, input_schema, strict: true });

describe('schemas on their way to the Messages API', () => {
  it('are sent as they came for Messages callers, whatever they say', () => {
    const format = { type: 'json_schema', name: 'x', schema: object({ $top: text }) } as const;
    const tools = Array.from({ length: 30 }, (_, at) =>
      strict(`t${at}`, { anyOf: [object({ $top: text })] }),
    );
    const { given, request, losses } = fitted({ tools, output_config: { format } }, { isTranslated: false });
    expect(request).to.equal(given);
    expect(losses).to.deep.equal([]);
  });

  it('are the very request where nothing is to be changed', () => {
    const { given, request } = fitted({
      tools: [strict('a'), { name: 'b', input_schema: object({ a: text }) }],
    });
    expect(request).to.equal(given);
  });

  it('close strict tools, and leave the others open', () => {
    const open = object({ a: { ...text, maxLength: 3 } });
    const { request, losses } = fitted({
      tools: [strict('a', open), { name: 'b', input_schema: open, strict: false }],
    });
    expect(request.tools).to.deep.equal([
      strict('a', object({ a: { ...text, description: '{maxLength: 3}' } }, { additionalProperties: false })),
      { name: 'b', input_schema: open },
    ]);
    expect(losses).to.deep.equal([{ path: 'tools[0].input_schema', kind: 'setting' }]);
  });

  it('take strict from a tool that the subset cannot express, and send an open map as it is', () => {
    const map = object({ scores: { type: 'object', additionalProperties: { type: 'integer' } } });
    const { request, losses } = fitted({ tools: [strict('a', map)] });
    expect(request.tools).to.deep.equal([{ name: 'a', input_schema: map }]);
    expect(losses).to.deep.equal([{ path: 'tools[0].strict', kind: 'setting' }]);
  });

  it('are closed for the tool that a choice named, narrower than asked and for Messages callers too', () => {
    const map = object({ scores: { type: 'object', additionalProperties: { type: 'integer' } } });
    for (const isTranslated of [true, false]) {
      const tools = [asForcedTool({ name: 'a', input_schema: map }), strict('b', map)];
      const { request, losses } = fitted({ tools }, { isTranslated, options: refused });
      expect(request.tools?.[0]).to.deep.include({
        strict: true,
        input_schema: object(
          { scores: { type: 'object', properties: {}, additionalProperties: false } },
          { additionalProperties: false },
        ),
      });
      expect(losses[0]).to.deep.equal({ path: 'tools[0].input_schema', kind: 'mend' });
      if (!isTranslated) expect(request.tools?.[1]).to.equal(tools[1]);
    }
  });

  it('are within the limits of one request, which the tool of a choice leaves last', () => {
    const tools = Array.from({ length: 22 }, (_, at) => strict(`t${at}`));
    const forced = asForcedTool(tools[21]!);
    const { request, losses } = fitted({ tools: [...tools.slice(0, 21), forced] });
    expect(request.tools?.map(({ strict }) => strict === true).lastIndexOf(false)).to.equal(20);
    expect(request.tools?.filter((tool) => tool.strict)).to.have.length(20);
    expect(losses.map(({ path }) => path)).to.deep.equal(['tools[19].strict', 'tools[20].strict']);
    const own = fitted({ tools: [forced, ...tools.slice(0, 20)] }, { isTranslated: false });
    expect(own.request.tools?.map(({ strict }) => strict)).to.deep.equal([
      undefined,
      ...Array(20).fill(true),
    ]);
  });

  it('hold the answer to its form, else ask for it in words', () => {
    const format = {
      type: 'json_schema',
      name: 'x',
      strict: false,
      schema: object({ a: text }),
      description: 'A.',
    } as const;
    const held = fitted({ output_config: { effort: 'low', format } });
    expect(held.request.output_config).to.deep.equal({
      effort: 'low',
      format: {
        type: 'json_schema',
        schema: object({ a: text }, { description: 'A.', additionalProperties: false }),
      },
    });
    const map = { ...format, schema: { type: 'object' } };
    for (const { request, losses } of [
      fitted({ output_config: { format }, system: 'Be brief.' }, { options: refused }),
      fitted({ output_config: { format: map }, system: 'Be brief.' }),
      fitted({
        output_config: { format: { ...format, schema: object({ $top: text }) } },
        system: 'Be brief.',
      }),
    ]) {
      expect(request).not.to.have.property('output_config');
      expect(request.system).to.have.length(2);
      expect(JSON.stringify(request.system)).to.match(/Be brief\..*JSON Schema/);
      expect(losses).to.deep.equal([{ path: 'output_config.format', kind: 'setting' }]);
    }
  });

  it('ask for any JSON object in words', () => {
    const { request, losses } = fitted({ output_config: { format: { type: 'json_object' } } });
    expect(JSON.stringify(request.system)).to.include('one valid JSON object').and.not.include('Schema');
    expect(losses).to.deep.equal([{ path: 'output_config.format', kind: 'mend' }]);
  });

  describe('with keys that it refuses', () => {
    const tools = [
      {
        name: 'list',
        input_schema: object({ $top: { type: 'integer' }, name: text }, { required: ['$top'] }),
      },
    ];

    it('are sent under other names, in the history alike', () => {
      const use = { type: 'tool_use', id: 'c', name: 'list', input: { $top: 1, name: { $top: 2 } } } as const;
      const other = { ...use, name: 'other' };
      const messages = [{ role: 'assistant', content: [use, other] } as const];
      const { request, losses } = fitted({ tools, messages });
      expect(request.tools?.[0]?.input_schema).to.deep.equal(
        object({ _top: { type: 'integer' }, name: text }, { required: ['_top'] }),
      );
      expect(request.messages[0]?.content).to.deep.equal([
        { ...use, input: { _top: 1, name: { $top: 2 } } },
        other,
      ]);
      expect(losses).to.deep.equal([{ path: 'tools[0].input_schema', kind: 'mend' }]);
    });

    it('come back under the caller’s, streamed, whole, and cut', async () => {
      const { keys } = fitted({ tools });
      const start = (index: number, name: string, input: object = {}): MessagesStreamEvent => ({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `c${index}`, name, input },
      });
      const delta = (index: number, partial_json: string): MessagesStreamEvent => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json },
      });
      const stop = (index: number): MessagesStreamEvent => ({ type: 'content_block_stop', index });
      const sent = [
        [start(0, 'list'), delta(0, '{"_t'), delta(0, 'op": 1, "name":{"_top":2}}'), stop(0)],
        [start(1, 'list', { _top: 3 }), stop(1), start(2, 'other'), delta(2, '{"_top":4}'), stop(2)],
        [
          start(3, 'list'),
          delta(3, '{"_to'),
          { type: 'message_delta', delta: { stop_reason: 'max_tokens' } } as const,
        ],
      ];
      const events: MessagesStreamEvent[] = [];
      const stream = EventStream.from(batches(sent));
      for await (const batch of keys.inAnswer(stream)) for (const event of batch) events.push(event.json);
      const json = (index: number) =>
        events
          .map((event) =>
            'delta' in event && 'index' in event && event.index === index && 'partial_json' in event.delta
              ? event.delta.partial_json
              : '',
          )
          .join('');
      expect(json(0)).to.equal('{"$top": 1, "name":{"_top":2}}');
      expect(events).to.deep.include(start(1, 'list', { $top: 3 }));
      expect(json(2)).to.equal('{"_top":4}');
      expect(json(3)).to.equal('{"_to');
      expect(events.at(-1)).to.have.property('type', 'message_delta');
    });
  });
});

async function* batches(sent: readonly (readonly MessagesStreamEvent[])[]) {
  for (const events of sent) yield await Promise.resolve(events.map((event) => ModelEvent.of(event)));
}
