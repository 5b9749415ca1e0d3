import type { MessagesRequest } from '../../plugin/index.js';
import type { RequestChange, RequestChanges } from './explanation.js';
import { differences } from './json-diff.js';
import { requestJson } from './request-json.js';
import { concealed, shown } from '../dry-run/shown.js';

export const noChanges: RequestChanges = { changes: [] };

/** Max changes of one stage that are shown. */
const maxChanges = 50;

/** Differences between two requests, shortened; `conceals`: what was there before is not shown. */
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

/** The request as a whole, where a stage has made it, and its extras. */
export function madeRequest(request: MessagesRequest): RequestChanges {
  const { model, messages, tools } = Object(request) as Readonly<Record<string, unknown>>;
  const whole = { model: shown(model), messages: lengthOf(messages), tools: lengthOf(tools) };
  const { changes, ...more } = requestChanges(request, requestJson(request));
  return { changes: [{ path: '', after: whole }, ...changes], ...more };
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
