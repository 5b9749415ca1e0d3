import type { TSchema } from 'typebox';
import { compileCheck, formatPath } from '../plugin/format/index.js';
import { GatewayError } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';

/** Checks a value by a schema, compiled on first use. Throws `invalid_request` with every wrong field. */
export type Check = (value: unknown) => void;

export function checkOf(schema: TSchema): Check {
  let check: ((value: unknown) => readonly SchemaError[]) | undefined;
  return (value) => {
    check ??= compileCheck(schema);
    const errors = check(value);
    if (errors.length > 0) throw invalid(errors.map(problemText));
  };
}

/** Error `invalid_request` with one line per problem. */
export function invalid(problems: readonly string[]): GatewayError {
  return new GatewayError('invalid_request', problems.join('\n'));
}

function problemText({ path, message }: SchemaError): string {
  return `${formatPath(path)}: ${message}`;
}

/**
 * Query parameters, converted to numbers or booleans if the schema wants these and the text allows it. Throws
 * `invalid_request` for a parameter that is given twice.
 */
export function readQuery(text: string, schema: TSchema): Readonly<Record<string, unknown>> {
  const types = typesOf(schema);
  const values = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (values.has(name)) throw invalid([`${name}: is given more than once`]);
    values.set(name, typed(value, types[name]));
  }
  return Object.fromEntries(values);
}

function typesOf(schema: TSchema): Readonly<Record<string, unknown>> {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { type?: unknown }>> }; // the schema of a query is an object schema
  return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, type]));
}

function typed(text: string, type: unknown): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
