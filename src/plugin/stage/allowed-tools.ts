import type { MessagesRequest, Tool } from '../contract/messages.js';
import { extrasOf } from './extras.js';

/** Extra with the names of the tools that a caller allows, of those that it declares. */
export const allowedToolsExtra = 'tool_choice.allowed_tools';

/**
 * Names of the tools that the model may call where the caller allows some of those that it declares; undefined: all.
 * A receiver that has such a list is sent it beside all tools, which its prompt cache hangs on.
 */
export function allowedTools(request: Pick<MessagesRequest, 'tool_choice'>): ReadonlySet<string> | undefined {
  const names = extrasOf(request)[allowedToolsExtra];
  const choice = request.tool_choice?.type ?? 'auto';
  return Array.isArray(names) && (choice === 'auto' || choice === 'any')
    ? new Set(names as string[])
    : undefined;
}

/** Tools for a receiver without such a list: those that are allowed, and those that stages have added. */
export function offeredTools(request: MessagesRequest, addedTools: readonly Tool[] = []): readonly Tool[] {
  const { tools = [] } = request;
  const allowed = allowedTools(request);
  if (!allowed) return tools;
  return tools.filter(({ name }) => allowed.has(name) || addedTools.some((tool) => tool.name === name));
}
