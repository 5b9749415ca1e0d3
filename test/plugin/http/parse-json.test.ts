import { expect } from 'chai';
import { array, assert, integer, jsonValue, property, string } from 'fast-check';
import { parseJson } from '@gw2api/gateway/plugin';

describe('parseJson', () => {
  const broken: Record<string, string> = {
    '{"a": x}': 'unexpected "x" at line 1, column 7',
    '{"a":1': 'it ends too early, at line 1, column 7',
    '{"a":1,}': 'unexpected "}" at line 1, column 8',
    '[1,\n 2,\n oops]': 'unexpected "o" at line 3, column 2',
    '{"a":1} {': 'unexpected "{" at line 1, column 9',
    "{'a':1}": 'unexpected "\'" at line 1, column 2',
    '{"a" 1}': 'unexpected "\\"" at line 1, column 2',
    '[1 2]': 'unexpected "2" at line 1, column 4',
    '{"a":1]': 'unexpected "]" at line 1, column 7',
    '01': 'unexpected "1" at line 1, column 2',
    '"a\nb"': 'unexpected "\\"" at line 1, column 1',
    hello: 'unexpected "h" at line 1, column 1',
    '': 'it ends too early, at line 1, column 1',
  };

  for (const [text, where] of Object.entries(broken))
    it(`says of ${JSON.stringify(text)}: ${where}`, () => {
      expect(() => parseJson(text)).to.throw(`The body is not valid JSON: ${where}.`);
    });

  it('finds a place in everything that is not JSON', () => {
    assert(
      property(
        jsonValue(),
        array(string({ unit: 'grapheme', maxLength: 2 }), { maxLength: 2 }),
        integer({ min: 0, max: 50 }),
        (value, junk, at) => {
          const text = JSON.stringify(value);
          const torn = text.slice(0, at) + junk.join('');
          const thrown = attempt(() => parseJson(torn));
          if (attempt(() => JSON.parse(torn) as unknown) === undefined) expect(thrown).to.equal(undefined);
          else expect(thrown).to.have.property('code', 'invalid_json');
        },
      ),
    );
  });

  it('refuses what is nested so deeply that nobody could write it again', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
      expect(() => parseJson(nested(500))).to.not.throw();
      expect(() => parseJson(nested(501))).to.throw('body: must not be nested more than 500 levels deep');
      expect(() => parseJson(nested(100_000)))
        .to.throw()
        .with.property('code', 'invalid_request');
    }
  });

  it('takes a long text without losing its breath', () => {
    const text = `["${'a\\n'.repeat(1_000_000)}", ${'['.repeat(5000)}`;
    expect(() => parseJson(text)).to.throw('it ends too early');
  });

  it('searches no text that is so long that others would have to wait', () => {
    for (const text of [`["${'\\n'.repeat(12_000_000)}" x`, `[${'1,'.repeat(12_000_000)}x`]) {
      const message = 'The body is not valid JSON.';
      expect(attempt(() => parseJson(text))).to.include({ code: 'invalid_json', status: 400, message });
    }
  });
});

function attempt(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
