import { blank, redactAddresses } from '../../kit/schema/redact.js';
import type { Json } from '../../plugin/index.js';
import { isRecord } from '../../kit/schema/record.js';

/**
 * Copy of a value that fits an entry: its JSON has at most `maxLength` characters, long texts and lists are cut off,
 * and passwords of URLs and keys of the gateway are removed. Undefined for undefined.
 */
export function boundedJson(value: unknown, maxLength = maxEntryPart): Json | undefined {
  if (value === undefined) return undefined;
  const short = shortened(value, 0);
  const length = lengthOf(short);
  if (length <= maxLength) return short;
  return isRecord(short) ? withoutLargest(short, length - maxLength) : omitted(length);
}

/** Max characters of JSON in an entry before and after the change, each. */
const maxEntryPart = 16_384;

const maxText = 500;
const maxItems = 100;
const maxDepth = 12;

function shortened(value: unknown, depth: number): Json {
  if (typeof value === 'string') return shortText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item: unknown) => shortened(item, depth + 1));
    return value.length > maxItems ? [...items, `… and ${value.length - maxItems} more`] : items;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const kept = entries
    .slice(0, maxItems)
    .map(([key, inner]: [string, unknown]) => [shortText(key), shortened(inner, depth + 1)] as const);
  const more = entries.length - kept.length;
  return Object.fromEntries(more > 0 ? [...kept, ['…', `and ${more} more`]] : kept);
}

/** A text for an entry: cut off, and without passwords of URLs and the gateway's own keys. */
export function shortText(text: string, max = maxText): string {
  const safe = String(redactAddresses(text)).replaceAll(ownKeys, `$1${blank}`);
  return safe.length <= max ? safe : `${safe.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

const ownKeys = /\b(sk-gw-|gw-adm-)[\w-]{8,}/g;

type JsonObject = Readonly<Record<string, Json>>;

/** Replaces the largest fields by their sizes until `excess` characters are removed. */
function withoutLargest(value: JsonObject, excess: number): Json {
  const sizes = Object.entries(value).map(([key, inner]) => [key, lengthOf(inner)] as const);
  let left = excess;
  const dropped = new Map<string, number>();
  for (const [key, size] of sizes.toSorted(([, a], [, b]) => b - a)) {
    if (left <= 0) break;
    dropped.set(key, size);
    left -= size - omitted(size).length - 2;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const size = dropped.get(key);
      return [key, size === undefined ? inner : omitted(size)];
    }),
  );
}

function omitted(length: number): string {
  return `… (${length} characters)`;
}

function lengthOf(value: Json): number {
  return JSON.stringify(value).length;
}
