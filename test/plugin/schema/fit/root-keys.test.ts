import { expect } from 'chai';
import * as fc from 'fast-check';
import { fitSchema } from '#src/plugin/schema/fit/fit-schema.js';
import { KeyScanner } from '#src/plugin/schema/fit/key-scanner.js';

const text = { type: 'string' };

describe('keys that Anthropic refuses', () => {
  const schema = {
    type: 'object',
    properties: {
      $top: text,
      'filter[id]': text,
      '@type': text,
      $type: text,
      name: { type: 'object', properties: { $deep: text } },
      all: { $ref: '#' },
      first: { $ref: '#/properties/$top' },
      ['long'.repeat(20)]: text,
    },
    required: ['$top', 'name'],
    dependentRequired: { $top: ['@type'] },
  };

  it('get names of their own, the same each time, wherever the root names them', () => {
    const { schema: sent, keys, changes, keepsMeaning } = fitSchema(schema, 'anthropic');
    const names = Object.keys(sent['properties'] as object);
    for (const name of names) expect(name).to.match(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(new Set(names).size).to.equal(8);
    expect(names.slice(0, 2)).to.deep.equal(['_top', 'filter_id_']);
    expect(sent['required']).to.deep.equal(['_top', 'name']);
    expect(sent['dependentRequired']).to.deep.equal({ _top: [keys.get('@type')] });
    expect(fitSchema(structuredClone(schema), 'anthropic').schema).to.deep.equal(sent);
    expect({ changes, keepsMeaning }).to.deep.equal({ changes: ['properties'], keepsMeaning: true });
  });

  it('stay in deeper objects, and in a root that is referred to', () => {
    const { schema: sent } = fitSchema(schema, 'anthropic');
    expect(sent).to.have.nested.property('properties.name.properties.$deep');
    expect(sent).to.have.nested.property('properties.all.$ref', '#/$defs/root');
    expect(sent).to.have.nested.property('properties.first.$ref', '#/properties/_top');
    expect(sent).to.have.nested.property('$defs.root.properties.$top');
  });
});

describe('KeyScanner', () => {
  const names = new Map([
    ['_top', '$top'],
    ['b', 'a "b"\n'],
    ['é', '@é'],
  ]);
  const renamed = (json: string, cuts: readonly number[] = []) => {
    const scanner = new KeyScanner(names);
    const places = [0, ...cuts.toSorted((a, b) => a - b), json.length];
    const pieces = places.slice(1).map((end, at) => scanner.push(json.slice(places[at], end)));
    return pieces.join('') + scanner.end();
  };

  it('renames the keys of the outermost object alone, escaped ones too', () => {
    expect(
      renamed('{ "_top" : {"_top":1}, "\\u005ftop":["b",{"b":2}], "x":"b", "b" : "\\"b\\":" }'),
    ).to.equal('{ "$top" : {"_top":1}, "$top":["b",{"b":2}], "x":"b", "a \\"b\\"\\n" : "\\"b\\":" }');
    expect(renamed('["_top", {"_top": 1}]')).to.equal('["_top", {"_top": 1}]');
  });

  it('gives the same for any split of the text, cut anywhere', () => {
    const key = fc.constantFrom('_top', 'b', 'é', 'x', 'a\\"', '');
    const json = fc
      .dictionary(key, fc.jsonValue({ maxDepth: 2 }))
      .map((value) => JSON.stringify(value, null, 1));
    fc.assert(
      fc.property(json, fc.array(fc.nat(60)), fc.nat(80), (json, cuts, length) => {
        const cut = json.slice(0, length);
        expect(
          renamed(
            cut,
            cuts.filter((at) => at < cut.length),
          ),
        ).to.equal(renamed(cut));
        const given = JSON.parse(json) as Readonly<Record<string, unknown>>;
        const own = Object.entries(given).map(([name, value]) => [names.get(name) ?? name, value] as const);
        expect(JSON.parse(renamed(json))).to.deep.equal(Object.fromEntries(own));
      }),
    );
  });

  it('passes a key on that is too long to be one of ours', () => {
    const long = `{"${'k'.repeat(5000)}":1}`;
    const scanner = new KeyScanner(names);
    expect(scanner.push(long.slice(0, 3000))).to.equal(long.slice(0, 3000));
    expect(scanner.push(long.slice(3000))).to.equal(long.slice(3000));
  });
});
