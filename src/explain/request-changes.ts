import type { RequestChange, RequestChanges } from './explanation.js';
import { differences } from './json-diff.js';
import { concealed, shown } from './shown.js';

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

/** The request as a whole, where a stage has made it. */
export function madeRequest(request: unknown): RequestChanges {
  const { model, messages, tools } = Object(request) as Readonly<Record<string, unknown>>;
  return {
    changes: [
      { path: '', after: { model: shown(model), messages: lengthOf(messages), tools: lengthOf(tools) } },
    ],
  };
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
