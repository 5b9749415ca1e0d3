import { isRecord } from '../../kit/schema/record.js';
import type { MessagesRequest } from '../../plugin/index.js';

/** Parts of a prompt in the order in which providers cache them. Nothing is validated. */
export interface Prompt {
  readonly tools: readonly unknown[];
  readonly system: readonly unknown[];
  readonly messages: readonly unknown[];
}

export type Section = keyof Prompt;

/** Parts of a request's prompt; a text stands for a list of one text block, as providers read it. */
export function promptOf({ tools, system, messages }: MessagesRequest): Prompt {
  return { tools: listOf(tools), system: blocksOf(system), messages: listOf(messages) };
}

/** Content blocks of a message, or of a system prompt. */
function blocksOf(content: unknown): readonly unknown[] {
  if (typeof content !== 'string') return listOf(content);
  return content === '' ? [] : [{ type: 'text', text: content }];
}

/** Content blocks of a message. */
export function blocksIn(message: unknown): readonly unknown[] {
  return isRecord(message) ? blocksOf(message['content']) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** True for the same part, and for its copy, perhaps with another cache marker. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((part, at) => isSame(part, other[at]));
  if (!isRecord(one) || !isRecord(other)) return false;
  for (const name in one) if (name !== marker && !isSame(one[name], other[name])) return false;
  for (const name in other)
    if (name !== marker && one[name] === undefined && other[name] !== undefined) return false;
  return true;
}

const marker = 'cache_control';

/** Lifetime that a part's cache marker asks for, or one inside its content; undefined: it has no marker. */
export function markedMs(part: unknown): number | undefined {
  if (!isRecord(part)) return undefined;
  const own = lifetimeOf(part[marker]);
  if (own !== undefined) return own;
  const { content } = part;
  if (!Array.isArray(content)) return undefined;
  for (let at = content.length - 1; at >= 0; at -= 1) {
    const inner: unknown = content[at];
    const lifetime = isRecord(inner) ? lifetimeOf(inner[marker]) : undefined;
    if (lifetime !== undefined) return lifetime;
  }
  return undefined;
}

/** Lifetime of a cache marker in milliseconds; undefined for anything else. */
export function lifetimeOf(control: unknown): number | undefined {
  if (!isRecord(control)) return undefined;
  return control['ttl'] === '1h' ? 3_600_000 : 300_000;
}
