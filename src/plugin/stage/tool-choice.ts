import type { MessagesRequest, Tool } from '../contract/messages.js';
import { extrasOf } from './extras.js';

/** Extra with the names of the tools that a caller allows, of those that it declares. */
export const allowedToolsExtra = 'tool_choice.allowed_tools';

/**
 * Names of the tools that the model may call if the caller allows only some of the declared ones; undefined: all. A
 * receiver with such a list gets it beside all tools, for its prompt cache.
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

/** Property of a tool: copies have it, JSON does not show it. */
const forced = Symbol.for('gw2api.forced-tool');

interface MaybeForced {
  readonly [forced]?: true;
}

/**
 * Strict tool in place of a choice that names it and cannot be forced. The upstream kind closes its
 * schema for the receiver.
 */
export function asForcedTool(tool: Tool): Tool {
  const marked: Tool & MaybeForced = { ...tool, strict: true, [forced]: true };
  return marked;
}

/** True for a tool of `asForcedTool`, and copies of it. */
export function isForcedTool(tool: object): boolean {
  return (tool as MaybeForced)[forced] === true; // any object may have the symbol
}
