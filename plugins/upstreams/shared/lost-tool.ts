import type { Tool } from '@gw2api/gateway/plugin';
import type { Dropped } from './dropped.js';

/** Tools of the gateway itself, and those of them that are not sent. */
export interface AddedTools {
  readonly addedTools: readonly Tool[];
  readonly leftOut: Tool[];
}

/** Reports a tool that is left out: to the caller, unless the gateway itself has added it. */
export function reportLostTool(
  { name }: Tool,
  path: string,
  { dropped, addedTools, leftOut }: AddedTools & { readonly dropped: Dropped },
): void {
  const added = addedTools.find((tool) => tool.name === name);
  if (added) leftOut.push(added);
  else dropped.add(path);
}
