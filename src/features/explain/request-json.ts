import { allExtras, type MessagesRequest } from '../../plugin/index.js';
import { copyOf } from './json-diff.js';

/** A request with its extras, which JSON does not show, as the field `extras` of what has them; itself without any. */
export function requestJson(request: MessagesRequest): unknown {
  const placed = allExtras(request);
  if (placed.length === 0) return request;
  const copy = copyOf(request);
  for (const { place, extras } of placed) partAt(copy, place)['extras'] = extras;
  return copy;
}

/** Part of a request at a path that `allExtras` has named. */
function partAt(request: unknown, place: string): Record<string, unknown> {
  let part = request as Record<string, unknown>; // each name is that of an object or a list
  for (const name of place.match(/\w+/g) ?? []) part = part[name] as Record<string, unknown>;
  return part;
}
