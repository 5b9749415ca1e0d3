import { isRecord } from './record.js';
import { units } from './units.js';

/**
 * True if a value conforms to a schema. With `isFilling` defaults are filled in, in place: where ajv does, which is
 * not within a union or a condition.
 */
export type SchemaTest = (value: unknown, isFilling: boolean) => boolean;

/**
 * A test that is read from a JSON Schema instead of being compiled: for the schema of a config and one value that takes
 * 2 ms, and ajv's compiling 60. It does not say what is wrong. Undefined for a schema with a keyword, or a form of one,
 * that is not known here.
 */
export function readTest(schema: unknown): SchemaTest | undefined {
  if (typeof schema === 'boolean') return () => schema;
  if (!isRecord(schema)) return undefined;
  const tests = testsOf(schema, anyKeywords);
  const objectTests = testsOf(schema, objectKeywords);
  const isKnown = Object.keys(schema).every(
    (name) =>
      annotations.has(name) || Object.hasOwn(anyKeywords, name) || Object.hasOwn(objectKeywords, name),
  );
  if (!isKnown || !tests || !objectTests) return undefined;
  const defaults = defaultsOf(schema['properties']);
  return (value, isFilling) => {
    if (!tests.every((test) => test(value, isFilling))) return false;
    if (!isRecord(value)) return true;
    if (isFilling) fill(value, defaults);
    return objectTests.every((test) => test(value, isFilling));
  };
}

type Schema = Readonly<Record<string, unknown>>;
type ObjectTest = (value: Schema, isFilling: boolean) => boolean;

/** Reads keywords; undefined for a form that is not known. */
type Keywords<Test> = Readonly<Record<string, (form: unknown, schema: Schema) => Test | undefined>>;

function testsOf<Test>(schema: Schema, keywords: Keywords<Test>): readonly Test[] | undefined {
  const names = Object.keys(schema).filter((name) => Object.hasOwn(keywords, name));
  return allOf(names.map((name) => keywords[name]?.(schema[name], schema)));
}

/** Undefined if one of them is. */
function allOf<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
}

const annotations: ReadonlySet<string> = new Set([
  'default',
  'deprecated',
  'description',
  'else',
  'examples',
  'secret',
  'then',
  'title',
]);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isString,
  number: isNumber,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isRecord,
  array: isArray,
  null: (value) => value === null,
};

/** Keywords that hold for values of any type, or of another one than objects. */
const anyKeywords: Keywords<SchemaTest> = {
  type: (form) => {
    const tests = allOf([form].flat().map((name) => types[String(name)]));
    return tests && ((value) => tests.some((test) => test(value)));
  },
  enum: (form) => (Array.isArray(form) && form.every(isScalar) ? (value) => form.includes(value) : undefined),
  const: (form) => (isScalar(form) ? (value) => value === form : undefined),
  unit: (form) => {
    if (typeof form !== 'string' || !Object.hasOwn(units, form)) return undefined;
    const unit = units[form as keyof typeof units]; // as just seen
    return (value) => unit.parse(value) !== undefined;
  },
  anyOf: (form) => {
    const branches = Array.isArray(form) ? allOf(form.map(readTest)) : undefined;
    return branches && ((value) => branches.some((branch) => branch(value, false)));
  },
  if: (form, { then = true, else: otherwise = true }) => {
    const [test, whenTrue, whenFalse] = [form, then, otherwise].map(readTest);
    if (!test || !whenTrue || !whenFalse) return undefined;
    return (value, isFilling) => (test(value, false) ? whenTrue : whenFalse)(value, isFilling);
  },
  minimum: limit(isNumber, (value, least) => value >= least),
  maximum: limit(isNumber, (value, most) => value <= most),
  exclusiveMinimum: limit(isNumber, (value, below) => value > below),
  exclusiveMaximum: limit(isNumber, (value, above) => value < above),
  minLength: limit(isString, (value, least) => lengthOf(value) >= least),
  maxLength: limit(isString, (value, most) => lengthOf(value) <= most),
  pattern: (form) => {
    const pattern = patternOf(form);
    return pattern && ((value) => typeof value !== 'string' || pattern.test(value));
  },
  minItems: limit(isArray, (value, least) => value.length >= least),
  maxItems: limit(isArray, (value, most) => value.length <= most),
  items: (form) => {
    const test = readTest(form);
    return (
      test && ((value, isFilling) => !Array.isArray(value) || value.every((item) => test(item, isFilling)))
    );
  },
};

/** Keywords that hold for objects alone, which have their defaults by then. */
const objectKeywords: Keywords<ObjectTest> = {
  required: (form) =>
    Array.isArray(form) && form.every(isString)
      ? (value) => form.every((name) => value[name] !== undefined)
      : undefined,
  minProperties: count((size, least) => size >= least),
  maxProperties: count((size, most) => size <= most),
  propertyNames: (form) => {
    const test = readTest(form);
    return test && ((value) => Object.keys(value).every((name) => test(name, false)));
  },
  properties: (form) => {
    const tests = testsByName(form);
    return (
      tests &&
      ((value, isFilling) =>
        tests.every(([name, test]) => value[name] === undefined || test(value[name], isFilling)))
    );
  },
  patternProperties: (form) => {
    const tests = testsByName(form);
    const patterns = allOf(tests?.map(([name]) => patternOf(name)) ?? [undefined]);
    if (!tests || !patterns) return undefined;
    return (value, isFilling) =>
      tests.every(([, test], at) =>
        Object.entries(value).every(([name, each]) => !patterns[at]?.test(name) || test(each, isFilling)),
      );
  },
  additionalProperties: (form, { properties = {}, patternProperties = {} }) => {
    const test = readTest(form);
    const patterns = isRecord(patternProperties) && allOf(Object.keys(patternProperties).map(patternOf));
    if (!test || !isRecord(properties) || !patterns) return undefined;
    const isNamed = (name: string) =>
      Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name));
    return (value, isFilling) =>
      Object.entries(value).every(([name, each]) => isNamed(name) || test(each, isFilling));
  },
};

function limit<Value>(
  isOf: (value: unknown) => value is Value,
  holds: (value: Value, bound: number) => boolean,
): (form: unknown) => SchemaTest | undefined {
  return (form) => (isNumber(form) ? (value) => !isOf(value) || holds(value, form) : undefined);
}

function count(holds: (size: number, bound: number) => boolean): (form: unknown) => ObjectTest | undefined {
  return (form) => (isNumber(form) ? (value) => holds(Object.keys(value).length, form) : undefined);
}

function testsByName(form: unknown): readonly (readonly [string, SchemaTest])[] | undefined {
  if (!isRecord(form)) return undefined;
  return allOf(
    Object.entries(form).map(([name, schema]) => {
      const test = readTest(schema);
      return test && ([name, test] as const);
    }),
  );
}

/** Length in characters, not in UTF-16 units: as ajv counts. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Undefined for a text that is not the source of a regular expression. */
function patternOf(source: unknown): RegExp | undefined {
  try {
    return typeof source === 'string' ? new RegExp(source, 'u') : undefined;
  } catch {
    return undefined;
  }
}

/** Defaults of properties by name. */
function defaultsOf(properties: unknown): readonly (readonly [string, unknown])[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).flatMap(([name, schema]) =>
    isRecord(schema) && schema['default'] !== undefined ? [[name, schema['default']] as const] : [],
  );
}

function fill(value: Record<string, unknown>, defaults: ReturnType<typeof defaultsOf>): void {
  for (const [name, each] of defaults) if (value[name] === undefined) value[name] = structuredClone(each);
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
