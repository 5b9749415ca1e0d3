import { type MessagesRequest, allExtras } from '../../../plugin/index.js';
import type { RequestChange, RequestChanges } from '../explanation.js';
import { differences, copyOf } from './json-diff.js';
import { concealed, shown } from '../../dry-run/shown.js';

export const noChanges: RequestChanges = { changes: [] };

/** Max changes of one stage that are shown. */
const maxChanges = 50;

/** Differences between two requests, shortened; `conceals`: the former values are not shown. */
export function requestChanges(before: unknown, after: unknown, conceals = false): RequestChanges {
  const { found, more } = differences(before, after, maxChanges);
  if (found.length === 0) return noChanges;
  const changes = found.map((difference): RequestChange => {
    const { path } = difference;
    return {
      path,
      ...('before' in difference && {
        before: conceals ? concealed(difference.before) : shown(difference.before),
      }),
      ...('after' in difference && { after: shown(difference.after) }),
    };
  });
  return more > 0 ? { changes, more } : { changes };
}

/** The request as a whole, if a stage has made it, and its extras. */
export function madeRequest(request: MessagesRequest): RequestChanges {
  const { model, messages, tools } = Object(request) as Readonly<Record<string, unknown>>;
  const whole = { model: shown(model), messages: lengthOf(messages), tools: lengthOf(tools) };
  const { changes, ...more } = requestChanges(request, requestJson(request));
  return { changes: [{ path: '', after: whole }, ...changes], ...more };
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** A request with its extras, which JSON does not show, as the field `extras` of their holder; itself without any. */
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
