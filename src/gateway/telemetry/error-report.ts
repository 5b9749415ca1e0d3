import { readProperty } from '../../engine/trace/plugin-place.js';
import { sourceStack } from '../../kit/source-stack.js';

/**
 * Error as it is logged: type, message, stack, causes and simple fields; any other value stays unchanged. Never throws,
 * not even for a proxy, a throwing getter or a frozen error.
 */
export function errorReport(error: unknown): unknown {
  return report(error, 0);
}

function report(error: unknown, depth: number): unknown {
  if (typeof error === 'symbol' || typeof error === 'function' || typeof error === 'bigint')
    return typeof error;
  if (typeof error !== 'object' || error === null) return error;
  const name = readProperty(error, 'name');
  const fields: Record<string, unknown> = {
    ...simpleFields(error),
    type: typeof name === 'string' ? bounded(name) : 'object',
    message: text(readProperty(error, 'message')),
    stack: stackOf(error),
  };
  if (depth >= deepestCause) return fields;
  const cause = readProperty(error, 'cause');
  const errors = readProperty(error, 'errors');
  if (cause !== undefined) fields['cause'] = report(cause, depth + 1);
  if (Array.isArray(errors)) fields['errors'] = firstOf(errors).map((each) => report(each, depth + 1));
  return fields;
}

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

function firstOf(errors: readonly unknown[]): readonly unknown[] {
  try {
    return errors.slice(0, maxFields);
  } catch {
    return []; // as above
  }
}
