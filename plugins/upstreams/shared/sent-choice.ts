import type { ToolChoice } from '@gw2api/gateway/plugin';
import type { Dropped } from './dropped.js';

/** Choice among the tools that are sent: a tool by name that is left out takes its choice along, which is reported. */
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
