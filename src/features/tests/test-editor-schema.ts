import { unitSchemas } from '../../config/editor-schema.js';
import { isRecord } from '../../kit/schema/record.js';
import { outcomeFields, type Shape } from './outcome-shape.js';
import { TestFileSchema, TestSchema } from './test-schema.js';

type Schema = Readonly<Record<string, unknown>>;

const snapshot: Schema = { const: 'snapshot' };

/** Definitions that the schemas of tests refer to. */
export const testDefinitions: Schema = {
  test: forEditors(TestSchema),
  expect: {
    anyOf: [snapshot, keysSchema(outcomeFields, (shape) => ({ anyOf: [snapshot, schemaOf(shape)] }))],
  },
  matchers: { type: 'object', properties: matcherSchemas(), additionalProperties: false, minProperties: 1 },
};

/** JSON Schema (draft 7) of a `*.test.yaml`, for editors. */
export function testFileSchema(): Schema {
  const { tests: _, ...properties } = forEditors(TestFileSchema)['properties'] as Schema; // a closed object
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Tests of a gw2api config',
    type: 'object',
    required: ['tests'],
    properties: {
      ...properties,
      tests: { type: 'array', minItems: 1, items: { $ref: '#/definitions/test' } },
    },
    additionalProperties: false,
    definitions: testDefinitions,
  };
}

/** A schema of the gateway with patterns instead of units, and complete expectations. */
function forEditors(schema: object): Schema {
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    if (key === 'expect' && isRecord(value))
      return [key, { description: value['description'], allOf: [{ $ref: '#/definitions/expect' }] }] as const;
    if (Array.isArray(value))
      return [key, value.map((item) => (isRecord(item) ? forEditors(item) : item))] as const;
    return [key, isRecord(value) ? forEditors(value) : value] as const;
  });
  const { unit, ...rest } = Object.fromEntries<unknown>(entries);
  return typeof unit === 'string' ? { ...rest, ...unitSchemas[unit] } : rest;
}

function schemaOf(shape: Shape): Schema | true {
  if (shape === 'json') return true;
  if (shape === 'plain')
    return { anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, { $ref: '#/definitions/matchers' }] };
  if ('fields' in shape) return keysSchema(shape.fields, schemaOf, matcherSchemas());
  if ('entries' in shape)
    return { type: 'object', properties: matcherSchemas(), additionalProperties: schemaOf(shape.entries) };
  return { type: ['array', 'object'], items: schemaOf(shape.items) };
}

/** Known keys, and paths that begin with one of them. */
function keysSchema(
  fields: Readonly<Record<string, Shape>>,
  schemaFor: (shape: Shape) => Schema | true,
  others: Schema = {},
): Schema {
  const known = Object.entries(fields).map(([name, shape]) => [name, schemaFor(shape)] as const);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(known), ...others },
    patternProperties: { [`^(${Object.keys(fields).join('|')})[.\\[]`]: true },
    additionalProperties: false,
  };
}

function matcherSchemas(): Schema {
  return {
    matches: { type: 'string', description: 'A text that contains a match of this pattern (RE2).' },
    contains: {
      description: 'A text that contains this text, a list with a matching item, or an object with this key.',
    },
    not: { description: 'Anything else.' },
    any: { type: 'array', minItems: 1, description: 'A value that at least one of these accepts.' },
    all: { type: 'array', minItems: 1, description: 'A value that all of these accept.' },
    above: { type: 'number' },
    below: { type: 'number' },
    between: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
    absent: { type: 'boolean' },
    length: {
      type: ['integer', 'object'],
      description: 'Length of a text, a list or an object; a number or a matcher.',
    },
    equal: { description: 'Exactly this value, even if it looks like a matcher.' },
  };
}
