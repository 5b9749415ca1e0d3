import type { Tool } from 'gw2api/plugin';
import type { Dropped } from './dropped.js';

/** Reports a tool that is left out, unless the gateway itself has added it. */
export function reportLostTool(
  { name }: Tool,
  path: string,
  { dropped, addedTools }: { readonly dropped: Dropped; readonly addedTools: readonly Tool[] },
): void {
  if (!addedTools.some((tool) => tool.name === name)) dropped.add(path);
}
