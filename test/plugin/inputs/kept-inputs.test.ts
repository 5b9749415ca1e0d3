import { expect } from 'chai';
import * as fc from 'fast-check';
import { ModelEvent } from '#src/plugin/index.js';
import { keepRequestInputs } from '#src/plugin/inputs/body-inputs.js';
import { bodyWithInputs, jsonWithInputs } from '#src/plugin/inputs/inputs-json.js';
import { jsonFacts } from '#src/plugin/inputs/json-text.js';
import { inputJson, keepInput, keptInput } from '#src/plugin/inputs/kept-inputs.js';

/** Text of an input after a way through its value. */
function roundTrip(json: string): string {
  const input: unknown = JSON.parse(json);
  keepInput(input, json);
  return inputJson(input);
}

describe('the input of a tool call, serialized again', () => {
  for (const json of [
    '{"id":12345678901234567890,"f":1.0}',
    '{ "a": [1e5, -0, 0.10] }',
    '{"a":{"b":1E400},"c":"\\"1.0"}',
    '{"a":1.5,"b":100000000000000000000000}',
  ])
    it(`is as it came where it was ${json}`, () => {
      expect(roundTrip(json)).to.equal(json);
    });

  it('is written anew where no number would change', () => {
    expect(roundTrip('{ "a": 1, "b": "1.0" }')).to.equal('{"a":1,"b":"1.0"}');
    expect(keptInput(undefined)).to.equal(undefined);
    expect(inputJson(null)).to.equal('{}');
  });

  it('is written anew where a key is repeated, at any depth', () => {
    expect(roundTrip('{"a":1,"a":2.0}')).to.equal('{"a":2}');
    expect(roundTrip('{"a":[{"b":1,"b":2.0}]}')).to.equal('{"a":[{"b":2}]}');
  });

  it('is written anew where somebody has changed it', () => {
    const input = { a: 1 };
    keepInput(input, '{"a":1.0}');
    expect(inputJson({ ...input })).to.equal('{"a":1}');
    input.a = 2;
    expect(inputJson(input)).to.equal('{"a":2}');
  });

  it('has the value of its text, whatever that is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const json = JSON.stringify(value, null, 1);
        expect(JSON.parse(roundTrip(json))).to.deep.equal(JSON.parse(json));
        expect(jsonFacts(json).changesNumbers).to.equal(false);
      }),
    );
  });
});

describe('a Messages body, serialized again', () => {
  const input = '{ "id": 12345678901234567890, "f": 1.0 }';
  const bodyOf = (text: string) =>
    `{ "model": "m", "note": {"messages": [1.0]},
       "messages": [{"role":"user","content":"\\\\\\"input\\": 1.0"},
         {"content":[{"type":"text","text":"]}"}, ${text}], "role" : "assistant"}] }`;
  const plain = '{"type":"tool_use","input":{"a":1},"id":"c0","name":"x"}';
  const call = `{"type":"tool_use","id":"c1","name":"x","input" : ${input} }`;
  const early = `{"type":"tool_use","input":${input},"id":"c1","name":"x"}`;

  for (const [what, text] of [
    ['at the end of its call', call],
    ['before other fields', early],
    ['after a call without such numbers', `${plain}, ${call}`],
  ] as const)
    it(`keeps the numbers of an input ${what}`, () => {
      const body = JSON.parse(bodyOf(text)) as { messages: object[] };
      keepRequestInputs(body, Buffer.from(bodyOf(text)));
      const copy = { ...body, messages: [...body.messages, { role: 'user', content: 'And?' }] };
      const json = jsonWithInputs(copy);
      expect(json).to.include(input);
      expect(JSON.parse(json)).to.deep.equal(copy);
      expect(jsonWithInputs(body.messages)).to.include(input);
    });

  it('is searched behind a byte order mark, and as a text', () => {
    for (const bytes of [Buffer.from(`\ufeff${bodyOf(call)}`), bodyOf(call)]) {
      const body: unknown = JSON.parse(bodyOf(call));
      keepRequestInputs(body, bytes);
      expect(jsonWithInputs(body)).to.include(input);
    }
  });

  it('is written as ever without inputs of that kind', () => {
    for (const text of [bodyOf(plain), '{"messages":5}', '{"messages":[null,5,{"content":[null]}]}', '[]']) {
      const body: unknown = JSON.parse(text);
      keepRequestInputs(body, Buffer.from(text));
      expect(jsonWithInputs(body)).to.equal(JSON.stringify(body));
      expect(bodyWithInputs(body)).to.equal(body);
    }
  });
});

describe('an event with a whole input', () => {
  const input = '{"id": 12345678901234567890}';
  const call = `{"type":"tool_use","id":"c1","name":"x","input":${input}}`;

  it('keeps its numbers where it is changed', () => {
    const data = `{"type":"content_block_start","index":0,"content_block":${call}}`;
    const { json } = new ModelEvent('content_block_start', data);
    if (json.type !== 'content_block_start') throw new Error('It is another event.');
    expect(ModelEvent.of({ ...json, index: 1 }).data).to.include(input);
  });

  it('keeps them at the start of a message', () => {
    const message = `{"id":"m","type":"message","role":"assistant","model":"m","content":[${call}],
      "stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`;
    const { json } = new ModelEvent('message_start', `{"type":"message_start","message":${message}}`);
    expect(ModelEvent.of({ ...json }).data).to.include(input);
  });

  it('is no part of its input that a reader, a copy or a comparison sees', () => {
    const input = JSON.parse('{"a":1.0}') as object;
    keepInput(input, '{"a":1.0}');
    expect(inputJson(input)).to.equal('{"a":1.0}');
    expect(Reflect.ownKeys({ ...input })).to.deep.equal(['a']);
    expect(JSON.stringify(input)).to.equal('{"a":1}');
    expect(input).to.deep.equal({ a: 1 });
    expect(inputJson({ ...input })).to.equal('{"a":1}');
  });

  it('is not kept for an input that is frozen', () => {
    const input = Object.freeze({ a: 1 });
    keepInput(input, '{"a":1.0}');
    expect(inputJson(input)).to.equal('{"a":1}');
  });
});
