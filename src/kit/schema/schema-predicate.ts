import {
  allOf,
  annotations,
  patternOf,
  sizeKeywords,
  valueKeywords,
  type Keywords,
  type ObjectPredicate,
  type Schema,
  type SchemaPredicate,
} from './predicate-keywords.js';
import { isRecord } from './record.js';

/**
 * A predicate that is read from a JSON Schema instead of being compiled: for the schema of a config and one value
 * that takes 2 ms, and ajv's compiling 60. It does not say what is wrong. Undefined for a schema with a keyword, or a
 * form of one, that is not known here: a keyword new to our schemas is added to these tables.
 */
export function readPredicate(schema: unknown): SchemaPredicate | undefined {
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

function testsOf<Test>(schema: Schema, keywords: Keywords<Test>): readonly Test[] | undefined {
  const names = Object.keys(schema).filter((name) => Object.hasOwn(keywords, name));
  return allOf(names.map((name) => keywords[name]?.(schema[name], schema)));
}

/** Keywords that hold for values of any type, or of another one than objects. */
const anyKeywords: Keywords<SchemaPredicate> = {
  ...valueKeywords,
  anyOf: (form) => {
    const branches = Array.isArray(form) ? allOf(form.map(readPredicate)) : undefined;
    return branches && ((value) => branches.some((branch) => branch(value, false)));
  },
  if: (form, { then = true, else: otherwise = true }) => {
    const [test, whenTrue, whenFalse] = [form, then, otherwise].map(readPredicate);
    if (!test || !whenTrue || !whenFalse) return undefined;
    return (value, isFilling) => (test(value, false) ? whenTrue : whenFalse)(value, isFilling);
  },
  items: (form) => {
    const test = readPredicate(form);
    return (
      test && ((value, isFilling) => !Array.isArray(value) || value.every((item) => test(item, isFilling)))
    );
  },
};

/** Keywords that hold for objects alone, which have their defaults by then. */
const objectKeywords: Keywords<ObjectPredicate> = {
  ...sizeKeywords,
  propertyNames: (form) => {
    const test = readPredicate(form);
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
    const test = readPredicate(form);
    const patterns = isRecord(patternProperties) && allOf(Object.keys(patternProperties).map(patternOf));
    if (!test || !isRecord(properties) || !patterns) return undefined;
    const isNamed = (name: string) =>
      Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name));
    return (value, isFilling) =>
      Object.entries(value).every(([name, each]) => isNamed(name) || test(each, isFilling));
  },
};

function testsByName(form: unknown): readonly (readonly [string, SchemaPredicate])[] | undefined {
  if (!isRecord(form)) return undefined;
  return allOf(
    Object.entries(form).map(([name, schema]) => {
      const test = readPredicate(schema);
      return test && ([name, test] as const);
    }),
  );
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
