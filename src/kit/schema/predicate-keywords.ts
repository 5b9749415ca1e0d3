import { isRecord } from './record.js';
import { units } from './units.js';

/**
 * True if a value conforms to a schema. With `isFilling` defaults are filled in, in place: where ajv does, which is
 * not within a union or a condition.
 */
export type SchemaPredicate = (value: unknown, isFilling: boolean) => boolean;
export type ObjectPredicate = (value: Schema, isFilling: boolean) => boolean;
export type Schema = Readonly<Record<string, unknown>>;

/** Reads keywords; undefined for a form that is not known. */
export type Keywords<Predicate> = Readonly<
  Record<string, (form: unknown, schema: Schema) => Predicate | undefined>
>;

/** Keywords that no value is tested by; `then` and `else` are read with `if`. */
export const annotations: ReadonlySet<string> = new Set([
  'default',
  'deprecated',
  'description',
  'else',
  'examples',
  'local',
  'secret',
  'then',
  'title',
]);

/** Keywords without inner schemas that hold for values of any type, or of another one than objects. */
export const valueKeywords: Keywords<SchemaPredicate> = {
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
};

/** Keywords without inner schemas that hold for objects alone. */
export const sizeKeywords: Keywords<ObjectPredicate> = {
  required: (form) =>
    Array.isArray(form) && form.every(isString)
      ? (value) => form.every((name) => value[name] !== undefined)
      : undefined,
  minProperties: count((size, least) => size >= least),
  maxProperties: count((size, most) => size <= most),
};

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isString,
  number: isNumber,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isRecord,
  array: isArray,
  null: (value) => value === null,
};

function limit<Value>(
  isOf: (value: unknown) => value is Value,
  holds: (value: Value, bound: number) => boolean,
): (form: unknown) => SchemaPredicate | undefined {
  return (form) => (isNumber(form) ? (value) => !isOf(value) || holds(value, form) : undefined);
}

function count(
  holds: (size: number, bound: number) => boolean,
): (form: unknown) => ObjectPredicate | undefined {
  return (form) => (isNumber(form) ? (value) => holds(Object.keys(value).length, form) : undefined);
}

/** Undefined if one of them is. */
export function allOf<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
}

/** Length in characters, not in UTF-16 units: as ajv counts. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Undefined for a text that is not the source of a regular expression. */
export function patternOf(source: unknown): RegExp | undefined {
  try {
    return typeof source === 'string' ? new RegExp(source, 'u') : undefined;
  } catch {
    return undefined;
  }
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
