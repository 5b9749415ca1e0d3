import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../kit/schema/record.js';
import type { MessagesRequest } from '../contract/messages.js';
import { allExtras, extrasOf, withExtras, type Extras, type PlacedExtras } from '../stage/extras.js';

/**
 * The live request with changed fields of its JSON; undefined removes one. Each part that equals the live one stays the
 * same object, with its bytes, numbers and extras; a changed block keeps the extras of the one that it replaces.
 */
export function changedRequest(
  live: MessagesRequest,
  changes: Readonly<Record<string, unknown>>,
): MessagesRequest {
  const changed = Object.entries(changes).flatMap(([name, value]) => {
    const before = Object.hasOwn(live, name) ? live[name] : undefined;
    const after = mergedPart(before, value);
    return after === before ? [] : [[name, after] as const];
  });
  if (changed.length === 0) return live;
  const names = new Set(changed.map(([name]) => name));
  const kept = Object.entries(live).filter(([name]) => !names.has(name));
  const set = changed.filter(([, value]) => value !== undefined);
  return withSymbolsOf(live, [...kept, ...set]) as MessagesRequest; // all fields but the changed ones are those of a request
}

/**
 * The request with exactly these extras, at the places that `allExtras` names; parts whose extras are the same stay the
 * same objects.
 */
export function changedExtras(request: MessagesRequest, placed: readonly PlacedExtras[]): MessagesRequest {
  if (isDeepStrictEqual(allExtras(request), placed)) return request;
  const known = new Map(placed.map(({ place, extras }) => [place, extras]));
  const give = <Part>(part: Part, place: string): Part => given(part, known.get(place) ?? none);
  const { system, messages } = request;
  const blocks = Array.isArray(system) ? mapped(system, (block, at) => give(block, `system[${at}]`)) : system;
  const turns = mapped(messages, (message, at) => {
    const { content } = message;
    if (!Array.isArray(content)) return message;
    const now = mapped(content, (block, nth) => give(block, `messages[${at}].content[${nth}]`));
    return now === content ? message : { ...message, content: now };
  });
  const changes = {
    ...(blocks !== system && { system: blocks }),
    ...(turns !== messages && { messages: turns }),
  };
  const copy = Object.keys(changes).length > 0 ? { ...request, ...changes } : request;
  return give(copy, '');
}

const none: Extras = Object.freeze({});

function given<Part>(part: Part, extras: Extras): Part {
  if (typeof part !== 'object' || part === null) return part;
  return isDeepStrictEqual(extrasOf(part), extras) ? part : withExtras(part, extras);
}

/** The list itself if no item changes. */
function mapped<Item>(list: readonly Item[], map: (item: Item, at: number) => Item): readonly Item[] {
  const items = list.map(map);
  return items.every((item, at) => item === list[at]) ? list : items;
}

/** The given value, with the live part in place of each part that equals it. */
function mergedPart(live: unknown, value: unknown): unknown {
  if (Array.isArray(live) && Array.isArray(value)) return mergedList(live, value);
  if (isRecord(live) && isRecord(value)) return mergedRecord(live, value);
  return value;
}

type Fields = Readonly<Record<string, unknown>>;

function mergedRecord(live: Fields, value: Fields): Fields {
  let isSame = Object.values(live).filter((part) => part !== undefined).length === Object.keys(value).length;
  const entries = Object.entries(value).map(([name, part]) => {
    const before = Object.hasOwn(live, name) ? live[name] : undefined;
    const after = mergedPart(before, part);
    isSame &&= after === before;
    return [name, after] as const;
  });
  if (isSame) return live;
  return live['type'] === value['type'] ? withSymbolsOf(live, entries) : Object.fromEntries(entries);
}

/** Object with these fields and the extras of another one. */
function withSymbolsOf(other: object, entries: readonly (readonly [string, unknown])[]): Fields {
  const fields: Record<PropertyKey, unknown> = Object.fromEntries(entries);
  const from = other as Readonly<Record<symbol, unknown>>; // any object may have symbols
  for (const symbol of Object.getOwnPropertySymbols(other))
    if (Object.prototype.propertyIsEnumerable.call(other, symbol)) fields[symbol] = from[symbol];
  return fields;
}

/** Equal items are found at the start, at the end, and in order between these. */
function mergedList(live: readonly unknown[], value: readonly unknown[]): readonly unknown[] {
  const pairs = pairsOf(live, value);
  const items = value.map((item, at) => {
    const place = pairs.get(at);
    return place === undefined ? item : mergedPart(live[place], item);
  });
  const isSame = items.length === live.length && items.every((item, at) => item === live[at]);
  return isSame ? live : items;
}

/** Index of the live item that each item equals or replaces, by the item's own index. */
function pairsOf(live: readonly unknown[], value: readonly unknown[]): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  if (live.length === value.length) return new Map(value.map((_, at) => [at, at]));
  const shorter = Math.min(live.length, value.length);
  let start = 0;
  while (start < shorter && isEqual(live[start], value[start])) pairs.set(start, start++);
  let end = 0;
  const [lastLive, last] = [live.length - 1, value.length - 1];
  while (start + end < shorter && isEqual(live[lastLive - end], value[last - end]))
    pairs.set(last - end, lastLive - end++);
  pairBetween(live.slice(0, live.length - end), value.slice(0, value.length - end), start, pairs);
  return pairs;
}

/** Pairs items of lists from `start` on: equal ones in order, and changed ones where as many stand between these. */
function pairBetween(
  live: readonly unknown[],
  value: readonly unknown[],
  start: number,
  pairs: Map<number, number>,
): void {
  let [place, gap] = [start, start];
  for (let at = start; at <= value.length; at += 1) {
    const found = at < value.length ? findEqual(live, place, value[at]) : live.length;
    if (found === undefined) continue;
    if (found - place === at - gap)
      for (let nth = 0; nth < at - gap; nth += 1) pairs.set(gap + nth, place + nth);
    if (at < value.length) pairs.set(at, found);
    [place, gap] = [found + 1, at + 1];
  }
}

function findEqual(live: readonly unknown[], from: number, item: unknown): number | undefined {
  const until = Math.min(live.length, from + maxAhead);
  for (let at = from; at < until; at += 1) if (isEqual(live[at], item)) return at;
  return undefined;
}

/** Number of live items that are compared with a given one. */
const maxAhead = 64;

function isEqual(live: unknown, value: unknown): boolean {
  return mergedPart(live, value) === live;
}
