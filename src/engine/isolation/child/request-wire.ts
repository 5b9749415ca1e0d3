import { isDeepStrictEqual } from 'node:util';
import { allExtras, withAllExtras, type MessagesRequest, type ModelReply } from '../../../plugin/index.js';
import { wireReplyFields, type WireRequest, type WireRequestChange } from '../wire/protocol.js';

/** Request of the gateway, which cannot be changed in place. */
export function requestOf({ fields, extras = [] }: WireRequest): MessagesRequest {
  const request = fields as unknown as MessagesRequest; // the gateway sends the fields of a request
  return frozen(withAllExtras(request, extras));
}

/** Difference between the request that the gateway knows and another one. */
export function requestChange(
  before: MessagesRequest | undefined,
  after: MessagesRequest,
): WireRequestChange {
  const known: Readonly<Record<string, unknown>> = before ?? {};
  const now = Object.entries(after).filter(([, value]) => value !== undefined);
  const names = new Set(now.map(([name]) => name));
  const removed = Object.keys(known).filter((name) => !names.has(name));
  const changed = now.filter(([name, value]) => value !== known[name]);
  const fields = Object.fromEntries(
    changed.map(([name, value]) => [name, withNumbers(name, value, known[name])]),
  );
  const extras = allExtras(after);
  const isSame = isDeepStrictEqual(extras, before ? allExtras(before) : []);
  return { fields, removed, ...(!isSame && { extras }) };
}

/** A list with the number of each item that the gateway has in its own list; other values as they are. */
function withNumbers(name: string, value: unknown, before: unknown): unknown {
  if (!lists.has(name) || !Array.isArray(value) || !Array.isArray(before)) return value;
  const places = new Map(before.map((item: unknown, at) => [item, at]));
  return value.map((item: unknown) => places.get(item) ?? item);
}

/** Lists whose items are objects. */
const lists: ReadonlySet<string> = new Set(['messages', 'system', 'tools']);

/** Fields of a reply as JSON, without its events. */
export function replyFields(reply: ModelReply): Readonly<Record<string, unknown>> {
  const fields: unknown = reply; // the gateway checks them
  const known = Object(fields) as Readonly<Record<string, unknown>>; // any object has properties, perhaps undefined
  return Object.fromEntries(
    wireReplyFields.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])),
  );
}

/** Freezes a value of JSON, recursively. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const parts = value as Readonly<Record<string, unknown>>; // JSON has no other objects
  for (const name in parts) frozen(parts[name]);
  return value;
}
