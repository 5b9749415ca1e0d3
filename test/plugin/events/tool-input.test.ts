import { expect } from 'chai';
import * as fc from 'fast-check';
import { cutStopReason, finishedMembers, isCutInput, toolInput } from '#src/plugin/events/tool-input.js';

describe('the input of a tool call', () => {
  for (const [text, members] of [
    ['{"city":"Par', {}],
    ['{"city":"Paris"', { city: 'Paris' }],
    ['{"n":12', {}],
    ['{"n":12,', { n: 12 }],
    ['{"ok":tru', {}],
    ['{"ok":true', { ok: true }],
    ['{"a":"x\\"","b', { a: 'x"' }],
    ['{"a":1,"b":{"c":2,"d":', { a: 1 }],
    ['{"a":[1,2],"b":[3', { a: [1, 2] }],
    ['{"a":{"b":1}', { a: { b: 1 } }],
    ['{ "a" : "}" , "b" : "x', { a: '}' }],
    ['{"a\\', {}],
    ['{', {}],
    ['[1,2', {}],
    ['rm -rf /', {}],
    ['{"a":NaN,"b":1}', {}],
  ] as const)
    it(`is ${JSON.stringify(members)} where its text is ${text}`, () => {
      expect(finishedMembers(text)).to.deep.equal(members);
      expect(toolInput(text)).to.deep.equal({ input: members, isCut: true });
    });

  it('is empty where its text is blank or null', () => {
    for (const text of ['', ' \n', 'null']) {
      expect(toolInput(text)).to.deep.equal({ input: {}, isCut: false });
      expect(isCutInput(text)).to.equal(false);
    }
  });

  it('has no member that its whole text has not, wherever that is cut', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(objects, fc.nat(), (object, at) => {
        const text = JSON.stringify(object);
        const cut = text.slice(0, at % text.length);
        const members = finishedMembers(cut);
        const whole = JSON.parse(text) as Record<string, unknown>;
        for (const [name, value] of Object.entries(members)) expect(value).to.deep.equal(whole[name]);
        expect(isCutInput(cut)).to.equal(cut !== '');
      }),
    );
  });

  it('is read in linear time, however its text is made', () => {
    for (const text of [
      `{"a":"${'\\"'.repeat(1e6)}`,
      `{"a":${'['.repeat(1e6)}`,
      `{"a":1${',"b":1'.repeat(2e5)}`,
    ])
      finishedMembers(text);
  });

  it('leaves out what could not be serialized again', () => {
    const deep = `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`;
    expect(toolInput(deep)).to.deep.equal({ input: {}, isCut: true });
    expect(finishedMembers(deep.slice(0, -1))).to.deep.equal({});
  });

  it('makes an answer incomplete where it is cut, unless that says so itself', () => {
    for (const reason of [null, 'tool_use', 'end_turn', 'stop_sequence'])
      expect(cutStopReason(reason)).to.equal('max_tokens');
    for (const reason of ['max_tokens', 'model_context_window_exceeded', 'refusal', 'pause_turn'])
      expect(cutStopReason(reason)).to.equal(reason);
  });
});
