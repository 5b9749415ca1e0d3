import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { CatalogSchema, ConfigSchema } from '#src/config/schema.js';
import { formatKind } from '#src/engine/pipeline/load/format-kind.js';
import { loadBuiltins, type Loadable, type PluginKind } from '#src/engine/pipeline/load/load-plugin.js';
import { builtinFolder, builtinNames } from '#src/engine/pipeline/load/import/resolve.js';
import { accountKind, upstreamKind } from '#src/engine/pipeline/load/slot-kinds.js';
import { stageKind } from '#src/engine/pipeline/load/stage-kind.js';
import { isRecord } from '#src/kit/schema/record.js';
import { readPredicate } from '#src/kit/schema/schema-predicate.js';
import { units } from '#src/kit/schema/units.js';

describe('readPredicate', () => {
  const unknown = {
    'a keyword that it does not know': { not: {} },
    'a type that is none': { type: 'text' },
    'a pattern that is none': { pattern: '(' },
    'a limit that is no number': { minimum: '1' },
    'a unit that is none': { unit: 'fortnight' },
    'a schema for each item': { items: [{}] },
    'an object in an enum': { enum: [{}] },
    'a list that is none': { required: 'a' },
  };
  for (const [name, schema] of Object.entries(unknown))
    it(`leaves ${name} to ajv, however deep`, () => {
      const outer = { properties: { a: { items: { anyOf: [schema] } } } };
      expect(readPredicate(outer)).to.equal(undefined);
    });

  it('fills in no defaults within a union or a condition, as ajv does', () => {
    const withDefault = (name: string) => ({ properties: { [name]: { default: 1 } } });
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    const schema = { anyOf: [withDefault('a')], if: withDefault('b'), then: withDefault('c') };
    expect(read(schema)({})).to.deep.equal({ c: 1 });
    expect(compiled(schema)({})).to.deep.equal({ c: 1 });
  });

  it('agrees with ajv on changed configs, and fills in the same defaults', () => {
    agrees(ConfigSchema, 'config/gateway.reference.yaml', 300);
  });

  it('agrees with ajv on changed catalogs', () => {
    agrees(CatalogSchema, 'config/models.yaml', 100);
  });

  // A keyword that is new in a schema of ours is added to predicate-keywords.ts or schema-predicate.ts, and to `schemas`
  // below; without it a start compiles that schema.
  const kinds: readonly PluginKind<Loadable>[] = [stageKind, formatKind, upstreamKind, accountKind];
  for (const kind of kinds)
    it(`understands the options of each built-in in ${kind.folder || 'plugins'}, and agrees with ajv on them`, async () => {
      const plugins = await loadBuiltins(kind, { baseDir: '.', builtins: builtinFolder });
      expect(plugins).to.have.length((await builtinNames(builtinFolder, kind.folder)).length);
      for (const { options } of plugins) {
        const [byReading, byAjv] = [read(options), compiled(options)];
        fc.assert(
          fc.property(fittingValues(options), (value) => {
            expect(byReading(value)).to.deep.equal(byAjv(value));
          }),
          { numRuns: 100 },
        );
      }
    });

  it('agrees with ajv on any schema', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        expect(read(schema)(value)).to.deep.equal(compiled(schema)(value));
      }),
      { numRuns: 150 },
    );
  });
});

/** Changes a file in a place or two: a value goes, or another one comes. */
function agrees(schema: object, file: string, numRuns: number): void {
  const written: unknown = parse(readFileSync(file, 'utf8'));
  const places = placesIn(written);
  const [byReading, byAjv] = [read(schema), compiled(schema)];
  const change = fc.tuple(fc.constantFrom(...places), fc.oneof(fc.constant(undefined), values));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 2 }), (changes) => {
      const value = changes.reduce((whole, [place, each]) => changed(whole, place, each), written);
      expect(byReading(value)).to.deep.equal(byAjv(value));
    }),
    { numRuns },
  );
}

/** The value with its defaults, or undefined if it does not conform. */
type Reading = (value: unknown) => unknown;

function read(schema: object): Reading {
  const predicate = readPredicate(schema);
  if (!predicate) throw new Error(`${JSON.stringify(schema)} is not understood.`);
  return (value) => {
    const filled = structuredClone(value);
    return predicate(filled, true) ? filled : undefined;
  };
}

function compiled(schema: object): Reading {
  const unit = {
    keyword: 'unit',
    compile: (name: keyof typeof units) => (value: unknown) => units[name].parse(value) !== undefined,
  };
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: false,
    strictNumbers: true,
    keywords: [unit],
    code: { optimize: false },
  });
  const validate = ajv.compile(schema);
  return (value) => {
    const filled = structuredClone(value);
    return validate(filled) ? filled : undefined;
  };
}

type Place = readonly string[];

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner).map((rest) => [key, ...rest])),
  ];
}

/** A copy with another value at a place; without the key where that is undefined. */
function changed(value: unknown, [key, ...rest]: Place, to: unknown): unknown {
  if (key === undefined) return to ?? null;
  if (typeof value !== 'object' || value === null) return value;
  const inner = changed((value as Record<string, unknown>)[key], rest, to); // any object has keys
  if (Array.isArray(value)) return value.map((each: unknown, at) => (String(at) === key ? inner : each));
  const { [key]: _, ...others } = value as Record<string, unknown>;
  return inner === null && to === undefined ? others : { ...others, [key]: inner };
}

const names = fc.constantFrom('a', 'b', 'ab');
const scalars = fc.constantFrom(null, true, false, 0, -1, 1.5, 7, '', 'a', 'ab', '1s', '😀😀');
const written = valuesOf(scalars);
/** Also those of YAML that JSON, and so a schema, has no words for. */
const values = valuesOf(fc.oneof(scalars, fc.constantFrom(Infinity, -Infinity, Number.NaN)));

/** Values, and lists and maps of them. */
function valuesOf(leaves: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.letrec<{ value: unknown; list: unknown; map: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, leaves, tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(names, tie('value'), { maxKeys: 3 }),
  })).value;
}

const count = fc.integer({ min: 0, max: 2 });
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null');
const { schema: schemas } = fc.letrec<{ schema: object; inner: object | boolean; map: object }>((tie) => ({
  schema: fc.record(
    {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      default: written.filter((value) => value !== undefined),
      enum: fc.uniqueArray(scalars, { minLength: 1, maxLength: 4 }),
      const: scalars,
      unit: fc.constantFrom('duration', 'size'),
      minimum: fc.integer({ min: -2, max: 2 }),
      exclusiveMaximum: fc.integer({ min: 0, max: 8 }),
      minLength: count,
      maxLength: count,
      pattern: fc.constantFrom('^a', 'b$', '.'),
      minItems: count,
      maxItems: count,
      items: tie('inner'),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      minProperties: count,
      maxProperties: count,
      propertyNames: fc.record({ maxLength: fc.constant(1) }),
      properties: tie('map'),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), tie('inner'), { maxKeys: 1 }),
      additionalProperties: tie('inner'),
      anyOf: fc.array(tie('inner'), { minLength: 1, maxLength: 2 }),
      if: tie('inner'),
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: tie('inner'),
      else: tie('inner'),
    },
    { requiredKeys: [] },
  ),
  inner: fc.oneof({ maxDepth: 2 }, fc.boolean(), fc.constant({}), tie('schema')),
  map: fc.dictionary(names, tie('inner'), { maxKeys: 3 }),
}));

const samples: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.constantFrom('', 'a', 'ab', '1s', '2MB', '^a', 'https://a.example', 'gpt-5'),
  number: fc.constantFrom(0, 0.5, 1, 1.5),
  integer: fc.integer({ min: -1, max: 100 }),
  boolean: fc.boolean(),
  null: fc.constant(null),
};

/** Values of which many conform to a schema: each part has the type that the schema says, or now and then any other. */
function fittingValues(schema: unknown): fc.Arbitrary<unknown> {
  if (!isRecord(schema)) return values;
  const { type, anyOf, items, properties, additionalProperties, enum: allowed } = schema;
  const fitting: fc.Arbitrary<unknown>[] = [type].flat().flatMap((name) => samples[String(name)] ?? []);
  for (const name of ['const', 'default'] as const)
    if (schema[name] !== undefined) fitting.push(fc.constant(schema[name]));
  if (Array.isArray(allowed)) fitting.push(fc.constantFrom<unknown>(...allowed));
  if (Array.isArray(anyOf)) fitting.push(...anyOf.map(fittingValues));
  if (type === 'array') fitting.push(fc.array(fittingValues(items), { maxLength: 3 }));
  if (type === 'object') fitting.push(fittingObjects(properties, additionalProperties));
  return fitting.length === 0
    ? values
    : fc.oneof({ weight: 9, arbitrary: fc.oneof(...fitting) }, { weight: 1, arbitrary: values });
}

function fittingObjects(properties: unknown, others: unknown): fc.Arbitrary<object> {
  const named = Object.entries(isRecord(properties) ? properties : {}).map(
    ([name, schema]) => [name, fittingValues(schema)] as const,
  );
  const known = fc.record(Object.fromEntries(named), { requiredKeys: [] });
  const unknown = fc.dictionary(names, fittingValues(others), { maxKeys: 1 });
  return fc.tuple(known, unknown).map(([a, b]) => ({ ...b, ...a }));
}
