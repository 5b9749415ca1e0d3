import type { Tool } from '@gw2api/gateway/plugin';
import type { Dropped } from './dropped.js';

/** Fields of a tool that are passed on, and those whose loss changes nothing that is said. */
const readFields: ReadonlySet<string> = new Set(
  'name type description input_schema strict cache_control eager_input_streaming'.split(' '),
);

/** Reports all other fields of a tool. */
export function reportUnreadTool(tool: Tool, path: string, dropped: Dropped): void {
  if (dropped.isFull()) return;
  for (const field in tool) {
    if (dropped.isFull()) return;
    if (!readFields.has(field) && tool[field] != null) dropped.add(`${path}.${field}`);
  }
}
