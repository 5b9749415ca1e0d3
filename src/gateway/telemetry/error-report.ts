import { readProperty } from '../../engine/trace/plugin-place.js';
import { sourceStack } from '../../kit/source-stack.js';

/**
 * Error as it is logged: type, message, stack, causes and simple fields; any other value stays unchanged. Never throws,
 * not even for a proxy, a throwing getter or a frozen error.
 */
export function errorReport(error: unknown): unknown {
  return report(error, 0, new Set());
}

/** `seen`: the objects that the line has already. */
function report(error: unknown, depth: number, seen: Set<object>): unknown {
  if (typeof error === 'symbol' || typeof error === 'function' || typeof error === 'bigint')
    return typeof error;
  if (typeof error !== 'object' || error === null) return error;
  if (seen.has(error)) return '[repeated]';
  if (seen.size >= maxErrors) return '[omitted]';
  seen.add(error);
  const name = readProperty(error, 'name');
  const fields: Record<string, unknown> = {
    ...simpleFields(error),
    type: typeof name === 'string' ? bounded(name) : 'object',
    message: text(readProperty(error, 'message')),
    stack: stackOf(error),
  };
  if (depth >= deepestCause) return fields;
  const cause = readProperty(error, 'cause');
  const errors = joinedErrors(error);
  if (cause !== undefined) fields['cause'] = report(cause, depth + 1, seen);
  if (errors) fields['errors'] = errors.map((each) => report(each, depth + 1, seen));
  return fields;
}

const maxErrors = 50;
const deepestCause = 5;
const maxFields = 20;
const maxTextLength = 20_000;

function stackOf(error: object): string | undefined {
  const stack = text(readProperty(error, 'stack'));
  return stack === undefined ? undefined : sourceStack(stack);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? bounded(value) : undefined;
}

function bounded(value: string): string {
  return value.length > maxTextLength ? `${value.slice(0, maxTextLength)} …` : value;
}

/** `code`, `status`, `syscall` and the like. */
function simpleFields(error: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of keysOf(error).slice(0, maxFields)) {
    const value = readProperty(error, key);
    if (typeof value === 'string') fields[key] = bounded(value);
    else if (typeof value === 'number' || typeof value === 'boolean') fields[key] = value;
  }
  return fields;
}

function keysOf(error: object): readonly string[] {
  try {
    return Object.keys(error);
  } catch {
    return []; // a proxy whose trap throws
  }
}

/** The first `errors` of an AggregateError; undefined if it has none that can be read. */
function joinedErrors(error: object): readonly unknown[] | undefined {
  try {
    const { errors } = error as { readonly errors?: unknown }; // any object has properties, perhaps undefined
    if (!Array.isArray(errors)) return undefined;
    return Array.from({ length: Math.min(errors.length, maxFields) }, (_, at): unknown => errors[at]);
  } catch {
    return undefined; // a proxy whose trap throws, or that was revoked
  }
}
