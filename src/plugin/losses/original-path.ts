import type { MessagesRequest } from '../contract/messages.js';

/**
 * Path in the decoded request of a part of the request as it was sent, which stages have changed in between;
 * undefined for a message, block or tool that a stage has inserted.
 */
export function originalPath(
  path: string,
  sent: MessagesRequest,
  decoded: MessagesRequest,
): string | undefined {
  const [, list, index, rest = ''] = /^(messages|system|tools)\[(\d+)\](.*)$/s.exec(path) ?? [];
  if (list === undefined) return path;
  const [now, before] = [listOf(sent[list]), listOf(decoded[list])];
  if (list === 'system' && now.some((block) => isBlockOf(block, decoded.system)))
    return isBlockOf(now[Number(index)], decoded.system) ? list : undefined;
  const at = originalIndex(Number(index), now, before, list === 'system' ? 'front' : 'end');
  if (at === undefined) return undefined;
  if (list !== 'messages') return typeof decoded[list] === 'string' ? list : `${list}[${at}]${rest}`;
  const place = `messages[${at}]`;
  const content = contentPath(rest, contentOf(now[Number(index)]), contentOf(before[at]));
  return content === undefined ? undefined : `${place}${content}`;
}

/** True for the block that a stage has made of a text, to put another block beside it. */
function isBlockOf(block: unknown, text: unknown): boolean {
  return typeof text === 'string' && (block as { readonly text?: unknown } | undefined)?.text === text;
}

/** The same for the rest of a path after the message: `.content[1].source`. A content of one string has no index. */
function contentPath(rest: string, sent: unknown, decoded: unknown): string | undefined {
  const [, index, inner = ''] = /^\.content\[(\d+)\](.*)$/s.exec(rest) ?? [];
  if (index === undefined) return rest;
  if (typeof decoded === 'string') return '.content';
  const at = originalIndex(Number(index), listOf(sent), listOf(decoded));
  return at === undefined ? undefined : `.content[${at}]${inner}`;
}

function contentOf(message: unknown): unknown {
  return (message as { readonly content?: unknown } | undefined)?.content; // undefined past the end of a list
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}

/**
 * Index in `before` of the item at `now[index]`: itself, else a changed one in the same gap between two items that are
 * in both lists.
 */
function originalIndex(
  index: number,
  now: readonly unknown[],
  before: readonly unknown[],
  inserted: 'front' | 'end' = 'end',
): number | undefined {
  if (now[index] === before[index] || index >= now.length) return index;
  const places = new Map(before.map((item, at) => [item, at]));
  const same = places.get(now[index]);
  if (same !== undefined) return same;
  const [start, startBefore] = anchor(now, places, index, -1) ?? [-1, -1];
  const [end, endBefore] = anchor(now, places, index, 1) ?? [now.length, before.length];
  const gap = endBefore - startBefore - 1;
  if (gap <= 0) return undefined;
  const added = Math.max(0, end - start - 1 - gap);
  // Stages put system blocks before those of the caller, and tools and blocks behind them.
  const offset = index - start - (inserted === 'front' ? added : 0);
  return offset < 1 || (offset > gap && added > 0) ? undefined : startBefore + offset;
}

/** Nearest item that is in both lists, with its two indices. */
function anchor(
  now: readonly unknown[],
  places: ReadonlyMap<unknown, number>,
  from: number,
  step: 1 | -1,
): readonly [number, number] | undefined {
  for (let at = from + step; at >= 0 && at < now.length; at += step) {
    const place = places.get(now[at]);
    if (place !== undefined) return [at, place];
  }
  return undefined;
}
