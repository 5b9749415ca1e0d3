import { createHash } from 'node:crypto';
import type { Changes } from './changes.js';
import { decoded } from './pointers.js';
import { isRecord } from '../../../kit/schema/record.js';
import { mapParts, maxDepth, without, type Schema } from './schema-parts.js';

/** Names that a schema's root properties have upstream, by the caller's; only those that differ. */
export type KeyNames = ReadonlyMap<string, string>;

const maxLength = 64;
const conforming = /^[a-zA-Z0-9_.-]{1,64}$/;

/** True if all names of the root's properties meet Anthropic's rules. */
export function hasConformingKeys({ properties }: Schema): boolean {
  return !isRecord(properties) || Object.keys(properties).every((key) => conforming.test(key));
}

/**
 * Gives the root's properties names that Anthropic takes, the same each time, wherever the root names them. A root that
 * references lead to stays unchanged for those.
 */
export function renameRootKeys(schema: Schema, changes: Changes): { schema: Schema; keys: KeyNames } {
  if (hasConformingKeys(schema)) return { schema, keys: new Map() };
  const keys = namesFor(Object.keys(isRecord(schema['properties']) ? schema['properties'] : {}));
  changes.mend('properties');
  return { schema: withOwnRoot(renamed(schema, keys), schema, keys), keys };
}

/** A name for each key that does not conform. */
function namesFor(keys: readonly string[]): KeyNames {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(plain(key), (counts.get(plain(key)) ?? 0) + 1);
  const taken = new Set(keys);
  const names = new Map<string, string>();
  for (const key of keys) {
    if (conforming.test(key)) continue;
    const isAlone = counts.get(plain(key)) === 1 && plain(key) !== '';
    const name = isAlone ? plain(key) : uniqueName(plain(key), key, taken);
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

function plain(key: string): string {
  return key.replaceAll(/[^a-zA-Z0-9_.-]/g, '_').slice(0, maxLength);
}

function uniqueName(start: string, key: string, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round += 1) {
    const mark = createHash('sha256')
      .update(`${key}${'#'.repeat(round)}`)
      .digest('hex')
      .slice(0, 8);
    const name = `${start.slice(0, maxLength - mark.length - 1)}_${mark}`;
    if (!taken.has(name)) return name;
  }
}

const inPlace: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'anyOf', 'oneOf', 'allOf']);

/** The schema with the keys of its object renamed, also in the rules at the same place. */
function renamed(schema: Schema, keys: KeyNames, depth = 0): Schema {
  const entries = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    inPlace.has(keyword) && depth < maxDepth
      ? mapRules(value, (rule) => renamed(rule, keys, depth + 1))
      : renameIn(keyword, value, keys),
  ]);
  return Object.fromEntries(entries);
}

function mapRules(value: unknown, map: (rule: Schema) => Schema): unknown {
  if (Array.isArray(value)) return value.map((rule: unknown) => (isRecord(rule) ? map(rule) : rule));
  return isRecord(value) ? map(value) : value;
}

function renameIn(keyword: string, value: unknown, keys: KeyNames): unknown {
  switch (keyword) {
    case 'properties':
    case 'dependentSchemas':
    case 'default':
      return isRecord(value) ? withKeys(value, keys) : value;
    case 'dependentRequired':
    case 'dependencies':
      return isRecord(value) ? renameLists(withKeys(value, keys), keys) : value;
    case 'required':
      return renameList(value, keys);
    case 'examples':
      return Array.isArray(value)
        ? value.map((one: unknown) => (isRecord(one) ? withKeys(one, keys) : one))
        : value;
    default:
      return value;
  }
}

/** An object under other keys, in its order; keys without another name stay. */
export function withKeys(value: Schema, keys: KeyNames): Schema {
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [keys.get(key) ?? key, held]));
}

function renameLists(value: Schema, keys: KeyNames): Schema {
  return Object.fromEntries(Object.entries(value).map(([key, list]) => [key, renameList(list, keys)]));
}

function renameList(value: unknown, keys: KeyNames): unknown {
  return Array.isArray(value) ? value.map((name: unknown) => keys.get(String(name)) ?? name) : value;
}

/** References to the root lead to a copy with the caller's keys, those to one of its properties to the new name. */
function withOwnRoot(schema: Schema, own: Schema, keys: KeyNames): Schema {
  const copyName = 'root';
  let isCopied = false;
  const redirect = (part: Schema, depth: number): Schema => {
    const { $ref } = part;
    const mapped = depth < maxDepth ? mapParts(part, (inner) => redirect(inner, depth + 1)) : part;
    if (typeof $ref !== 'string') return mapped;
    if ($ref === '#') isCopied = true;
    const moved = $ref === '#' ? `#/$defs/${copyName}` : movedRef($ref, keys);
    return moved === $ref ? mapped : { ...mapped, $ref: moved };
  };
  const redirected = redirect(schema, 0);
  if (!isCopied) return redirected;
  const $defs = isRecord(redirected['$defs']) ? redirected['$defs'] : {};
  return {
    ...redirected,
    $defs: { ...$defs, [copyName]: redirect(without(own, ['$defs', 'definitions']), 1) },
  };
}

function movedRef(ref: string, keys: KeyNames): string {
  const [, start, key, rest = ''] = /^(#\/properties\/)([^/]*)(\/.*)?$/s.exec(ref) ?? [];
  const name = key === undefined ? undefined : keys.get(decoded(key));
  return name === undefined ? ref : `${start}${name}${rest}`;
}
