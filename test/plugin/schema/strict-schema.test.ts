import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { strictSchema } from '#src/plugin/internal.js';
import { strictSchemaProblem } from '#plugins/upstreams/simulator/schema-rules.js';

type Schema = Readonly<Record<string, unknown>>;

const closed = { additionalProperties: false };

describe('strictSchema', () => {
  it('closes every object, however deep, and nothing that only looks like one', () => {
    const named = { properties: { type: { type: 'string' } } };
    const schema = {
      type: 'object',
      properties: {
        properties: { type: ['object', 'null'], ...named },
        list: { type: 'array', items: { anyOf: [{ type: 'object', ...named }, { $ref: '#/$defs/a' }] } },
        type: { enum: ['object'] },
      },
      $defs: { a: { type: 'object', ...named, additionalProperties: true } },
    };
    expect(strictSchema(schema)).to.deep.equal({
      schema: {
        type: 'object',
        properties: {
          properties: { type: ['object', 'null'], ...named, ...closed },
          list: {
            type: 'array',
            items: { anyOf: [{ type: 'object', ...named, ...closed }, { $ref: '#/$defs/a' }] },
          },
          type: { enum: ['object'] },
        },
        ...closed,
        $defs: { a: { type: 'object', ...named, ...closed } },
      },
      changed: ['additionalProperties'],
      isExpressible: true,
    });
  });

  it('has nothing to report of a schema that the upstream takes', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', format: 'uuid' } }, ...closed };
    expect(strictSchema(schema)).to.deep.equal({ schema, changed: [], isExpressible: true });
  });

  it('puts constraints behind the description, each keyword reported once', () => {
    const count = { type: 'integer', minimum: 0, description: 'How many.' };
    const schema = { type: 'object', properties: { a: count, b: count }, ...closed };
    const { schema: strict, changed } = strictSchema(schema);
    expect(strict).to.have.nested.property('properties.b.description', 'How many.\n\n{minimum: 0}');
    expect(changed).to.deep.equal(['minimum']);
  });

  it('takes an allOf of one reference as the anyOf that it is, for the upstream refuses it', () => {
    const $defs = { a: { type: 'string' } };
    const inherited = { allOf: [{ $ref: '#/$defs/a' }], description: 'Of a kind.' };
    const schema = { type: 'object', properties: { a: inherited }, $defs, ...closed };
    expect(strictSchema(schema)).to.deep.equal({
      schema: {
        ...schema,
        properties: { a: { anyOf: [{ $ref: '#/$defs/a' }], description: 'Of a kind.' } },
      },
      changed: ['allOf'],
      isExpressible: true,
    });
  });

  it('keeps `definitions`, which the SDK loses', () => {
    const definitions = { a: { type: 'string' } };
    const schema = { type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions, ...closed };
    expect(strictSchema(schema)).to.deep.include({ schema, isExpressible: true });
  });

  describe('knows what no strict schema says:', () => {
    const holding = (a: unknown, more: object = {}) => ({
      type: 'object',
      properties: { a },
      ...closed,
      ...more,
    });
    const ref = (to: string) => ({ $ref: to });
    const inexpressible: Readonly<Record<string, Schema>> = {
      'a map of values': holding({ type: 'object', additionalProperties: { type: 'string' } }),
      'a map of anything': holding({ type: 'object', additionalProperties: true }),
      'an object of which nothing is said': holding({ type: 'object' }),
      'names by a pattern': holding({ type: 'object', patternProperties: { '^x': {} }, ...closed }),
      'a value of any type': holding({ description: 'Anything.' }),
      'the schema `true`': holding(true),
      'a list of anything': holding({ type: 'array', items: {} }),
      'a recursion to the root': holding(ref('#')),
      'a recursion of a definition': holding(ref('#/$defs/a'), {
        $defs: { a: { type: 'array', items: ref('#/$defs/b') }, b: { anyOf: [ref('#/$defs/a')] } },
      }),
      'several schemas at once, one of them by reference': holding(
        { allOf: [ref('#/$defs/a'), { type: 'string' }] },
        { $defs: { a: { type: 'string' } } },
      ),
      'a reference to nothing': holding(ref('#/$defs/none')),
      'a reference to another document': holding(ref('https://example.com/schema')),
    };
    for (const [what, schema] of Object.entries(inexpressible)) {
      it(what, () => expect(strictSchema(schema).isExpressible).to.equal(false));
    }

    it('but not a definition that is used twice', () => {
      const schema = holding(ref('#/$defs/a%20b'), {
        $defs: { 'a b': { anyOf: [ref('#/$defs/c~1'), ref('#/$defs/c~1')] }, 'c/': { type: 'string' } },
      });
      expect(strictSchema(schema)).to.deep.include({ schema, isExpressible: true });
    });
  });

  it('takes schemas of any depth and size in a time that grows with them', () => {
    let deep: Schema = { type: 'string' };
    for (let level = 0; level < 5000; level += 1) deep = { type: 'object', properties: { a: deep } };
    expect(strictSchema(deep).isExpressible).to.equal(false);
    const names = Array.from({ length: 100_000 }, (_, at) => `d${at}`);
    const $defs = Object.fromEntries(
      names.map((name, at) => [name, { type: 'array', items: { $ref: `#/$defs/d${at + 1}` } }]),
    );
    expect(strictSchema({ $ref: '#/$defs/d0', $defs }).isExpressible).to.equal(false);
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: 'integer', minimum: 1, description: name }]),
    );
    expect(strictSchema({ type: 'object', properties, ...closed }).changed).to.deep.equal(['minimum']);
  });

  describe('beside the SDK of the vendor', () => {
    it('says the same of hand-made schemas', () => {
      for (const schema of handMade) expect(strictSchema(schema).schema).to.deep.equal(theirs(schema));
    });

    it('says the same of generated schemas, and the upstream takes each', () => {
      fc.assert(
        fc.property(schemas, (schema) => {
          const { schema: ours, isExpressible } = strictSchema(schema);
          expect(ours).to.deep.equal(theirs(schema));
          expect(isExpressible).to.equal(true);
          expect(strictSchemaProblem(ours)).to.equal(undefined);
        }),
        { numRuns: 300 },
      );
    });
  });
});

function theirs(schema: Schema): unknown {
  return transformJSONSchema(structuredClone(schema));
}

const handMade: readonly Schema[] = [
  { type: 'integer', minimum: 1, maximum: 5, description: 'A rating.' },
  { type: 'string', format: 'regex', minLength: 1 },
  { type: 'string', format: 'email', pattern: '^a' },
  { type: 'array', minItems: 2, items: { type: 'string' }, maxItems: 3 },
  { type: 'array', minItems: 1, items: { type: 'string' }, uniqueItems: true },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'null' },
  {
    oneOf: [{ type: 'object', properties: { a: { const: 1 } } }, { type: 'null' }],
    discriminator: { a: 'b' },
  },
  { type: 'string', enum: ['a', 'b'], default: 'a', title: 'Kind' },
  { type: 'object', enum: [{ a: 1 }], properties: { a: { type: 'number' } } },
  {
    $defs: { a: { type: 'integer', minimum: 0 } },
    type: 'array',
    items: { $ref: '#/$defs/a', description: 'x' },
  },
  { type: 'object', properties: { a: { type: ['string', 'null'], maxLength: 3 } }, required: ['a'] },
  { type: 'object', allOf: [{ type: 'object', properties: { a: { type: 'boolean' } } }], title: 'T' },
];

const plain: fc.Arbitrary<Schema> = fc.record(
  {
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', ['integer', 'null']),
    minimum: fc.integer(),
    multipleOf: fc.integer({ min: 1 }),
    minLength: fc.nat(),
    pattern: fc.constantFrom('^a', '(?=b)'),
    format: fc.constantFrom('uuid', 'date', 'regex', 'int32'),
    description: fc.string(),
    title: fc.string(),
    default: fc.jsonValue(),
    not: fc.constant({ type: 'null' }),
  },
  { requiredKeys: ['type'] },
);

const literal: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1 }) }),
  fc.record({ const: fc.oneof(fc.string(), fc.boolean()), type: fc.constant('string') }),
);

const { schema: nested } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    plain,
    literal,
    fc.constant({ $ref: '#/$defs/a' }),
    fc.record(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        minItems: fc.nat(3),
        maxItems: fc.nat(9),
        description: fc.string(),
      },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.stringMatching(/^[a-z$]{1,5}$/), tie('schema'), {
          minKeys: 1,
          maxKeys: 4,
        }),
        required: fc.array(fc.string()),
        additionalProperties: fc.boolean(),
        minProperties: fc.nat(),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), description: fc.string() }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(plain, { minLength: 1, maxLength: 2 }), title: fc.string() }),
  ),
}));

const schemas: fc.Arbitrary<Schema> = fc.record({
  type: fc.constant('object'),
  $defs: fc.record({ a: plain }),
  properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), nested, { minKeys: 1, maxKeys: 5 }),
});
