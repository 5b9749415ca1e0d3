import * as fc from 'fast-check';
import type { Schema } from './vendor-rules.js';

/** A schema with a value that was made for it, of the properties that its branches name. */
export interface Made {
  readonly schema: Schema;
  /** The schema with the branches that the value was made for. */
  readonly meant: Schema;
  readonly value: unknown;
}

const key = fc.oneof(
  fc.stringMatching(/^[a-d]$/),
  fc.constantFrom('$top', '@id', 'a b', 'x.y', 'type', 'items'),
);

const plain: fc.Arbitrary<Made> = fc.oneof(
  made(
    { type: fc.constant('string'), maxLength: fc.integer({ min: 3, max: 9 }) },
    fc.constantFrom('', 'one'),
  ),
  made(
    { type: fc.constant('string'), pattern: fc.constant('^o'), default: fc.constant('o') },
    fc.constant('one'),
  ),
  made(
    { type: fc.constant('string'), format: fc.constantFrom('uri', 'x-own') },
    fc.constant('https://a.example/'),
  ),
  made({ type: fc.constant('integer'), minimum: fc.integer({ max: 2 }) }, fc.integer({ min: 2, max: 9 })),
  made({ type: fc.constant(['number', 'null']), title: fc.string() }, fc.constantFrom(1.5, null)),
  made({ enum: fc.constant(['x', 'y', 1]) }, fc.constantFrom('x', 1)),
  made({ type: fc.constant('string'), const: fc.constant('fixed') }, fc.constant('fixed')),
  made({ $ref: fc.constant('#/$defs/a') }, fc.constant(7)),
  made({ $ref: fc.constant('#/$defs/b'), description: fc.string() }, fc.constant({ n: 1 })),
  made({ type: fc.constant('array'), description: fc.string() }, fc.constantFrom([], ['x'])),
  made(
    { type: fc.constant('object'), additionalProperties: fc.constant({ type: 'string' }) },
    fc.constant({ k: 'v' }),
  ),
  made({ description: fc.string() }, fc.constantFrom(1, 'x')),
);

const { value: nested } = fc.letrec<{ value: Made; object: Made }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    plain,
    tie('object'),
    fc
      .record({ item: tie('value'), count: fc.nat(2), bounds: fc.boolean() })
      .map(({ item, count, bounds }) => ({
        schema: { type: 'array', items: item.schema, ...(bounds && { minItems: 0, maxItems: 5 }) },
        meant: { type: 'array', items: item.meant },
        value: Array.from({ length: count }, () => item.value),
      })),
    union(tie('value')),
  ),
  object: objects(tie('value')),
}));

/** Object schemas, plain ones and such with branches beside their properties, as a tool or an answer has them. */
export const rootSchemas: fc.Arbitrary<Made> = objects(nested).map(({ schema, meant, value }) => ({
  schema: { ...schema, $defs },
  meant: { ...meant, $defs },
  value,
}));

const $defs = {
  a: { type: 'integer' },
  b: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
};

function made(
  fields: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<Made> {
  const [needed = ''] = Object.keys(fields);
  const schema: fc.Arbitrary<Schema> = fc.record(fields, { requiredKeys: [needed] });
  return fc.record({ schema, value }).map(({ schema, value }) => ({ schema, meant: schema, value }));
}

function objects(part: fc.Arbitrary<Made>): fc.Arbitrary<Made> {
  const own = plainObject(part);
  return fc.oneof(
    { weight: 3, arbitrary: own },
    fc.record({ outer: own, inner: union(own) }).map(({ outer, inner }) => both(outer, inner)),
    fc.record({ outer: own, all: fc.array(own, { minLength: 1, maxLength: 3 }) }).map(({ outer, all }) => ({
      schema: { ...outer.schema, allOf: all.map(({ schema }) => schema) },
      meant: { ...outer.meant, allOf: all.map(({ meant }) => meant) },
      value: Object.assign({}, outer.value, ...all.map(({ value }) => value)) as unknown,
    })),
    union(own).map((made) => ({ ...made, schema: { type: 'object', ...made.schema } })),
  );
}

function plainObject(part: fc.Arbitrary<Made>): fc.Arbitrary<Made> {
  const properties = fc.dictionary(
    key,
    fc.record({ part, isRequired: fc.boolean(), isGiven: fc.boolean() }),
    {
      minKeys: 1,
      maxKeys: 3,
    },
  );
  const rest = fc.record(
    { additionalProperties: fc.boolean(), minProperties: fc.constant(0) },
    { requiredKeys: [] },
  );
  return fc.record({ properties, rest }).map(({ properties, rest }) => {
    const entries = Object.entries(properties);
    const required = entries.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
    const given = entries.filter(([, { isRequired, isGiven }]) => isRequired || isGiven);
    const withParts = (of: 'schema' | 'meant') => ({
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { part }]) => [name, part[of]])),
      ...(required.length > 0 && { required }),
      ...rest,
    });
    return {
      schema: withParts('schema'),
      meant: withParts('meant'),
      value: Object.fromEntries(given.map(([name, { part }]) => [name, part.value])),
    };
  });
}

function union(part: fc.Arbitrary<Made>): fc.Arbitrary<Made> {
  const branches = fc.array(part, { minLength: 1, maxLength: 3 });
  return fc.record({ branches, name: fc.constantFrom('anyOf', 'oneOf') }).map(({ branches, name }) => {
    const schema = { [name]: branches.map(({ schema }) => schema) };
    const [first = none] = branches;
    const meant = name === 'oneOf' ? { ...schema, allOf: [first.meant] } : { allOf: [first.meant] };
    return { schema, meant, value: first.value };
  });
}

const none: Made = { schema: {}, meant: {}, value: {} };

function both(outer: Made, inner: Made): Made {
  const value = Object.assign({}, outer.value, inner.value) as unknown;
  return {
    schema: { ...outer.schema, ...inner.schema },
    meant: { ...outer.meant, ...inner.meant },
    value,
  };
}
