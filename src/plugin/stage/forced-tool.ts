import type { Tool } from '../contract/messages.js';

/** Property of a tool: copies have it, JSON does not show it. */
const forced = Symbol.for('gw2api.forced-tool');

interface MaybeForced {
  readonly [forced]?: true;
}

/**
 * Strict tool instead of one that a choice names and that cannot be forced (contract §4.4). The upstream kind
 * closes its schema as its receiver demands.
 */
export function asForcedTool(tool: Tool): Tool {
  const marked: Tool & MaybeForced = { ...tool, strict: true, [forced]: true };
  return marked;
}

/** True for a tool of `asForcedTool`, and copies of it. */
export function isForcedTool(tool: object): boolean {
  return (tool as MaybeForced)[forced] === true; // any object may have the symbol
}
