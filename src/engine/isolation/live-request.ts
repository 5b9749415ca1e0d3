import { allExtras, type MessagesRequest, type PlacedExtras } from '../../plugin/index.js';
import { merged, withChangedExtras } from '../../plugin/remote/index.js';
import { isRecord } from '../../kit/schema/record.js';
import { shapeFault } from '../trace/state-shapes.js';
import type { WireRequest } from './wire/protocol.js';

/** Request as it is sent to a child process. */
export function wireRequest(request: MessagesRequest): WireRequest {
  const extras = allExtras(request);
  return { fields: request, ...(extras.length > 0 && { extras }) };
}

/**
 * The live request with the changes of a child process: what these leave alone stays the same. Throws a TypeError for
 * changes that are not valid, or give no valid request.
 */
export function withWireChange(live: MessagesRequest | undefined, change: unknown): MessagesRequest {
  const { fields, removed, extras } = isRecord(change) ? change : {};
  if (!isRecord(fields) || !Array.isArray(removed))
    throw new TypeError('it has changed a request in an unknown way');
  const base: Readonly<Record<string, unknown>> = live ?? {};
  const set = Object.entries(fields).map(([name, value]) => {
    const before = Object.hasOwn(base, name) ? base[name] : undefined;
    return [name, merged(before, withItems(value, before))] as const;
  });
  const changed = set.filter(([name, value]) => value !== base[name]);
  const request = withoutFields({ ...base, ...Object.fromEntries(changed) }, removed.map(String));
  const fault = shapeFault('request', request);
  if (fault !== undefined) throw new TypeError(`it has left a request that ${fault}`);
  const next = (changed.length + removed.length === 0 && live) || (request as MessagesRequest); // as just checked
  return extras === undefined ? next : withChangedExtras(next, placedExtras(extras));
}

/** Copy without some fields; its extras and other marks are kept. */
function withoutFields(request: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  const copy = { ...request };
  for (const name of names) Reflect.deleteProperty(copy, name);
  return copy;
}

/** A list with the live items in place of their numbers. */
function withItems(value: unknown, live: unknown): unknown {
  if (!Array.isArray(value) || !Array.isArray(live)) return value;
  return value.map((item: unknown) => {
    if (typeof item !== 'number') return item;
    if (!Number.isInteger(item) || item < 0 || item >= live.length)
      throw new TypeError('it has named an item that its request does not have');
    return live[item] as unknown;
  });
}

function placedExtras(value: unknown): readonly PlacedExtras[] {
  if (!Array.isArray(value)) throw new TypeError('it has left extras that are not a list');
  return value.map((item: unknown) => {
    const { place, extras } = isRecord(item) ? item : {};
    if (typeof place !== 'string' || !isRecord(extras))
      throw new TypeError('it has left extras without a place');
    return { place, extras };
  });
}
