import { expect } from 'chai';
import { excessOf, hasMoreValues } from '@gw2api/gateway/plugin';

/** As a parser counts them. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + valuesIn(part), 1);
}

/** Fields or items of the outermost object or list, by the same search. */
function fieldsCounted(json: string): number {
  let fields = 1;
  while (excessOf(Buffer.from(json), { values: Infinity, fields }) === 'fields') fields += 1;
  return fields;
}

/** The least number that there are no more than. */
function counted(json: string): number {
  let values = 1;
  while (hasMoreValues(Buffer.from(json), values)) values += 1;
  return values;
}

describe('the number of values in a JSON text', () => {
  for (const json of [
    '1',
    '[]',
    '{}',
    ' [ ] ',
    '[[]]',
    '[{},{}]',
    '{"a":1}',
    '{ "a" : { } , "b" : [ 1 , 2 ] }',
    '"[,]{,}"',
    '["\\"", ",", "\\\\", "]"]',
    '{"\\"a,[":"\\\\"}',
    `["${'x'.repeat(100)}\\"${'y'.repeat(100)}", 1]`,
    `["${'\\\\'.repeat(100)}", 1]`,
    `["${'\\\\'.repeat(100)}\\"", 1]`,
    `["${'\\"'.repeat(100)}", "${'x'.repeat(31)}\\\\"]`,
    '["ä", "🌍", "\\u0022,"]',
  ])
    it(`is that of the parsed value: ${json.slice(0, 40)}`, () => {
      expect(counted(json)).to.equal(valuesIn(JSON.parse(json)));
    });

  it('is that of the parsed value, whatever that is', () => {
    let seed = 7;
    const below = (limit: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % limit;
    const pieces = ['"', '\\', ',', '[', '}', 'x'.repeat(40), 'é', '\n'];
    const text = () => Array.from({ length: below(6) }, () => pieces[below(pieces.length)]).join('');
    const value = (depth: number): unknown => {
      const kind = below(depth > 0 ? 5 : 3);
      if (kind === 0) return below(100);
      if (kind < 3) return text();
      const parts = Array.from({ length: below(5) }, () => value(depth - 1));
      return kind === 3 ? parts : Object.fromEntries(parts.map((part, at) => [`${at}${text()}`, part]));
    };
    for (let nth = 0; nth < 500; nth += 1) {
      const made = value(5);
      for (const indent of [0, 2])
        expect(counted(JSON.stringify(made, null, indent))).to.equal(valuesIn(made));
      const fields = Object.keys(Object(made) as object).length; // those of a text are its characters
      if (typeof made !== 'string') expect(fieldsCounted(JSON.stringify(made))).to.equal(Math.max(1, fields));
    }
  });

  it('is found in linear time, whatever the strings are made of', () => {
    for (const unit of ['\\"', '\\\\', `${'x'.repeat(33)}\\"`, 'x'])
      expect(hasMoreValues(Buffer.from(`["${unit.repeat(16_000_000 / unit.length)}"]`), 2)).to.equal(false);
  });

  it('of something other than JSON is some number', () => {
    for (const text of ['', '"', '"\\', '[,,', '}', '\u0000']) hasMoreValues(Buffer.from(text), 1);
  });
});
