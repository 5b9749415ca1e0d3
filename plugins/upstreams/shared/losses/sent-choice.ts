import type { ToolChoice, Tool } from '@gw2api/gateway/plugin';
import type { Dropped } from './dropped.js';

/** Choice among the tools that are sent; a choice of an omitted tool is dropped and reported. */
export function sentChoice(
  choice: ToolChoice | undefined,
  isSent: (name: string) => boolean,
  dropped: Dropped,
): ToolChoice | undefined {
  if (choice?.type !== 'tool' || isSent(choice.name)) return choice;
  dropped.add('tool_choice');
  const { name: _, ...rest } = choice;
  return { ...rest, type: 'auto' };
}

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

/** Fields of a tool that are passed on, and those whose loss changes nothing. */
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
