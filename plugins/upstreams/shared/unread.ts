import type { MessagesRequest } from 'gw2api/plugin';
import type { Dropped } from './dropped.js';

/**
 * Fields that translations to the other vendor's formats read, or whose loss changes nothing: cache markers, what
 * the gateway itself sets.
 */
const readFields: ReadonlySet<string> = new Set(
  (
    'model messages system tools tool_choice max_tokens temperature top_p top_k stop_sequences stream' +
    ' thinking output_config metadata cache_control'
  ).split(' '),
);

/** Reports all other fields of a request, unless their value asks for nothing. */
export function reportUnread(request: MessagesRequest, dropped: Dropped): void {
  for (const [name, value] of Object.entries(request))
    if (!readFields.has(name) && !asksForNothing(value)) dropped.add(name);
  for (const name of Object.keys(request.output_config ?? {}))
    if (name !== 'effort' && name !== 'format') dropped.add(`output_config.${name}`);
}

function asksForNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === 'auto') return true;
  return Array.isArray(value) && value.length === 0;
}
