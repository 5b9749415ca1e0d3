import { isRecord } from '../../../kit/schema/record.js';
import type { Schema } from './schema-parts.js';

type Draft = Record<string, unknown>;

/**
 * One schema for the values that fit all of some. Also fits a value with properties that another one excludes, since
 * combined schemas are not meant to exclude each other.
 */
export function joinSchemas(schemas: readonly unknown[]): Schema | boolean {
  if (schemas.includes(false)) return false;
  const records = [...new Set(schemas.filter(isRecord))]; // `true` says nothing
  const [first = true, ...others] = records;
  if (first === true || others.length === 0) return first;
  const join = new Join();
  for (const schema of records) join.add(schema);
  return join.result();
}

class Join {
  readonly #values = new Map<string, unknown[]>();
  /** Constraints that the joined schema itself cannot express. */
  readonly #rest: Draft[] = [];

  add(schema: Schema): void {
    const rest: Draft = {};
    const isConditional = 'if' in schema && this.#values.has('if');
    for (const [keyword, value] of Object.entries(schema)) {
      const values = this.#values.get(keyword);
      if (isConditional && conditional.has(keyword)) rest[keyword] = value;
      else if (values === undefined) this.#values.set(keyword, [value]);
      else if (keyword in joiners) values.push(value);
      else if (!annotations.has(keyword) && !isSame(values[0], value)) rest[keyword] = value;
    }
    if (Object.keys(rest).length > 0) this.#rest.push(rest);
  }

  /** The joined schema; an unsatisfiable one if the types exclude each other. */
  result(): Schema {
    if ((this.#values.get('type') ?? [true]).reduce(commonTypes) === undefined) return { not: {} };
    const joined: Draft = Object.fromEntries(
      [...this.#values].map(([keyword, values]) => [keyword, this.#valueOf(keyword, values)]),
    );
    if (this.#rest.length === 0) return joined;
    return { ...joined, allOf: [...listOf(joined['allOf']), ...this.#rest] };
  }

  #valueOf(keyword: string, values: readonly unknown[]): unknown {
    const unique = [...new Set(values)];
    const value = unique.length === 1 ? unique[0] : joiners[keyword]?.(unique);
    if (value !== undefined) return value;
    for (const other of unique.slice(1)) this.#rest.push({ [keyword]: other });
    return unique[0];
  }
}

const conditional: ReadonlySet<string> = new Set(['if', 'then', 'else']);

/** Annotation keywords: those of the first schema stay. */
const annotations: ReadonlySet<string> = new Set(
  '$schema $id $comment title description default examples deprecated readOnly writeOnly'.split(' '),
);

/** Value of a keyword for all; undefined if no keyword can express it. */
type Joiner = (values: readonly unknown[]) => unknown;

const joiners: Readonly<Record<string, Joiner | undefined>> = {
  type: (values) => values.reduce(commonTypes),
  properties: joinNamed,
  patternProperties: joinNamed,
  $defs: mergeNamed,
  definitions: mergeNamed,
  required: (values) => [...new Set(values.flatMap(listOf))],
  additionalProperties: joinSchemas,
  enum: (values) => values.reduce(commonValues),
  allOf: (values) => values.flatMap(listOf),
  minimum: largest,
  exclusiveMinimum: largest,
  minLength: largest,
  minItems: largest,
  minProperties: largest,
  maximum: smallest,
  exclusiveMaximum: smallest,
  maxLength: smallest,
  maxItems: smallest,
  maxProperties: smallest,
};

/** Types in both lists; an integer is a number. Undefined if there are none. */
function commonTypes(first: unknown, second: unknown): unknown {
  if (first === undefined) return undefined;
  const [some, others] = [[first].flat(), [second].flat()];
  const common = new Set([
    ...some.filter((type) => isIn(type, others)),
    ...others.filter((type) => isIn(type, some)),
  ]);
  return common.size > 1 ? [...common] : [...common][0];
}

function isIn(type: unknown, types: readonly unknown[]): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

function commonValues(first: unknown, second: unknown): unknown {
  const known = new Set(listOf(second).map((value) => JSON.stringify(value)));
  const common = listOf(first).filter((value) => known.has(JSON.stringify(value)));
  return common.length > 0 ? common : undefined;
}

function joinNamed(values: readonly unknown[]): unknown {
  const schemas = new Map<string, unknown[]>();
  for (const value of values.filter(isRecord))
    for (const [name, schema] of Object.entries(value)) {
      const known = schemas.get(name);
      if (known) known.push(schema);
      else schemas.set(name, [schema]);
    }
  return Object.fromEntries([...schemas].map(([name, same]) => [name, joinSchemas(same)]));
}

/** Definitions of all; the first of a name counts. */
function mergeNamed(values: readonly unknown[]): unknown {
  const entries = values.filter(isRecord).flatMap((value) => Object.entries(value));
  return Object.fromEntries(entries.toReversed());
}

function largest(values: readonly unknown[]): unknown {
  return values.reduce((first, second) => chosenNumber(first, second, Math.max));
}

function smallest(values: readonly unknown[]): unknown {
  return values.reduce((first, second) => chosenNumber(first, second, Math.min));
}

function chosenNumber(
  first: unknown,
  second: unknown,
  choose: (first: number, second: number) => number,
): unknown {
  return typeof first === 'number' && typeof second === 'number' ? choose(first, second) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isSame(first: unknown, second: unknown): boolean {
  return first === second || JSON.stringify(first) === JSON.stringify(second);
}
