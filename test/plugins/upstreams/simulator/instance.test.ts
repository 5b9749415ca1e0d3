import { expect } from 'chai';
import * as fc from 'fast-check';
import { compileCheck } from '#src/plugin/format/index.js';
import { instanceOf } from '#plugins/upstreams/simulator/answer/instance.js';
import { randomFrom } from '#plugins/upstreams/simulator/random.js';

const name = fc.constantFrom('a', 'b', 'c', 'd');

/** JSON Schemas of the kind that tools have. */
const { schema } = fc.letrec<{ schema: object; leaf: object; object: object; array: object; choice: object }>(
  (tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('object'), tie('array'), tie('choice')),
    leaf: fc.oneof(
      fc.constantFrom({ type: 'boolean' }, { type: 'null' }, { const: 7 }, { enum: ['x', 'y', 3] }),
      fc.constantFrom({ type: ['string', 'null'] }, { type: 'string', pattern: '^[A-Z]{3}-\\d{3}$' }),
      fc.record({ type: fc.constant('string'), minLength: fc.nat(30) }),
      fc.record({ type: fc.constant('string'), maxLength: fc.nat(5) }),
      fc.tuple(fc.integer(), fc.nat(50)).map(([minimum, more]) => ({
        type: 'integer',
        minimum,
        maximum: minimum + more,
      })),
      fc.integer().map((exclusiveMinimum) => ({ type: 'integer', exclusiveMinimum })),
      fc.constantFrom({ type: 'number', minimum: 0.1, maximum: 0.2 }, { type: 'integer', multipleOf: 5 }),
    ),
    object: fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
    }),
    array: fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: fc.nat(3),
      maxItems: fc.integer({ min: 3, max: 5 }),
    }),
    choice: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  }),
);

describe('a made-up value', () => {
  it('fits its schema, whatever that is', () => {
    fc.assert(
      fc.property(schema, fc.string(), (wanted, seed) => {
        const value = instanceOf(wanted, randomFrom(seed));
        expect(compileCheck(wanted)(value)).to.deep.equal([]);
      }),
      { numRuns: 100, seed: 7 },
    );
  });

  it('follows $ref, $defs, allOf and ends in recursive schemas', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            label: { $ref: '#/$defs/label' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
            parent: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          },
          required: ['label', 'children', 'parent'],
          additionalProperties: false,
        },
        label: { allOf: [{ type: 'string' }, { minLength: 40 }] },
      },
    };
    expect(compileCheck(tree)(instanceOf(tree, randomFrom('seed')))).to.deep.equal([]);
  });

  it('is an empty object where there is no schema', () => {
    expect(instanceOf(undefined, randomFrom(''))).to.deep.equal({});
    expect(instanceOf({ type: 'object', properties: {} }, randomFrom(''))).to.deep.equal({});
  });

  it('takes a literal percent sign in a reference', () => {
    const properties = { '%': { const: 7 } };
    expect(instanceOf({ $ref: '#/properties/%', properties }, randomFrom('seed'))).to.equal(7);
    expect(() => instanceOf({ $ref: '#/%' }, randomFrom('seed'))).not.to.throw();
  });
});
