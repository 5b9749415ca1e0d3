import { isRecord } from '../../kit/schema/record.js';
import { checkReply } from '../../plugin/core.js';

type Check = (value: unknown) => string | undefined;

/** Fault of a state key's value, phrased to follow its name; undefined if it has the shape of its type. */
export function shapeFault(key: string, value: unknown): string | undefined {
  return Object.hasOwn(shapes, key) ? shapes[key]?.(value) : undefined;
}

/** Checks of known keys; those that plugins add are unknown here. */
const shapes: Readonly<Record<string, Check>> = {
  caller: (value) =>
    fieldFault(value, {
      kind: (kind) => kind === 'master' || kind === 'key',
      keyId: isText,
      name: isText,
    }),
  body: (value) => (value === undefined ? 'is undefined' : undefined),
  request: requestFault,
  delivery: (value) => (value === 'stream' || value === 'whole' ? undefined : 'is not stream or whole'),
  additions: (value) => fieldFault(value, { system: Array.isArray, tools: Array.isArray }),
  interceptors: (value) => (Array.isArray(value) ? undefined : 'is not a list'),
  picker: (value) => fieldFault(value, { lease: (lease) => typeof lease === 'function' }),
  reply: replyFault,
  count: (value) =>
    fieldFault(value, { inputTokens: Number.isFinite, estimated: (flag) => typeof flag === 'boolean' }),
  response: (value) => (value === true ? undefined : 'is not true'),
};

function requestFault(value: unknown): string | undefined {
  const fault = fieldFault(value, {
    model: isText,
    messages: Array.isArray,
    max_tokens: isAbsentOr((number) => typeof number === 'number'),
    system: isAbsentOr((system) => isText(system) || isBlocks(system)),
    tools: isAbsentOr((tools) => Array.isArray(tools) && tools.every(isRecord)),
  });
  if (fault) return fault;
  const { messages } = value as { readonly messages: readonly unknown[] }; // as just checked
  const at = messages.findIndex((message) => !isMessage(message));
  return at < 0 ? undefined : `has an invalid messages[${at}]`;
}

function isMessage(message: unknown): boolean {
  return (
    isRecord(message) &&
    isText(message['role']) &&
    (isText(message['content']) || isBlocks(message['content']))
  );
}

function isBlocks(value: unknown): boolean {
  return Array.isArray(value) && value.every((block) => isRecord(block) && isText(block['type']));
}

function replyFault(value: unknown): string | undefined {
  try {
    checkReply(value);
    return undefined;
  } catch (error) {
    return `is invalid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function fieldFault(
  value: unknown,
  fields: Readonly<Record<string, (field: unknown) => boolean>>,
): string | undefined {
  if (!isRecord(value)) return `is ${value === null ? 'null' : typeof value}, not an object`;
  const wrong = Object.entries(fields).find(([name, holds]) => !holds(value[name]));
  return wrong && `has an invalid ${wrong[0]}`;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isAbsentOr(holds: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || holds(value);
}
