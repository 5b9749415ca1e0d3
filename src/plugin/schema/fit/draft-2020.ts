import type { Changes } from './changes.js';
import { isRecord } from '../../../kit/schema/record.js';
import { mapParts, maxDepth, type Schema } from './schema-parts.js';

/**
 * The schema in draft 2020-12, which both vendors check: without null keywords, as languages with typed records write
 * unset ones, and without the tuples, bounds and `required` of earlier drafts.
 */
export function toDraft2020(root: Schema, changes: Changes): Schema {
  const convert = (schema: Schema, depth: number): Schema => {
    const mapped = depth < maxDepth ? mapParts(schema, (part) => convert(part, depth + 1)) : schema;
    return hasEarlier(mapped) ? converted(mapped, changes) : mapped;
  };
  return convert(root, 0);
}

/** Keywords for which JSON Schema allows no null. */
const valued: ReadonlySet<string> = new Set(
  (
    '$schema $id $ref $defs definitions title description type format pattern enum examples required properties ' +
    'additionalProperties patternProperties propertyNames minProperties maxProperties items prefixItems contains ' +
    'minItems maxItems uniqueItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
    'anyOf oneOf allOf not if then else'
  ).split(' '),
);

/** True for a schema with a keyword that the draft lacks. Allocates nothing, since few schemas have one. */
function hasEarlier(schema: Schema): boolean {
  for (const keyword in schema) if (isEarlier(keyword, schema[keyword])) return true;
  return false;
}

function isEarlier(keyword: string, value: unknown): boolean {
  if (value === null) return valued.has(keyword);
  if (typeof value === 'boolean') return keyword === 'required' || bounds.has(keyword);
  if (!Array.isArray(value)) return false;
  return keyword === 'items' || (keyword === 'required' && new Set(value).size < value.length);
}

/** Bounds by the boolean keywords that formerly made them exclusive. */
const bounds: ReadonlyMap<string, string> = new Map([
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
]);

function converted(schema: Schema, changes: Changes): Schema {
  const draft: Record<string, unknown> = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (!isEarlier(keyword, value)) continue;
    if (keyword === 'required' && value === true) changes.lose(keyword);
    else changes.mend(keyword);
    if (keyword === 'items' && Array.isArray(value)) writeTuple(draft, value);
    else if (keyword === 'required' && Array.isArray(value)) draft[keyword] = [...new Set(value)];
    else delete draft[keyword];
    if (bounds.has(keyword)) writeBound(draft, keyword, value);
  }
  return draft;
}

function writeTuple(draft: Record<string, unknown>, items: readonly unknown[]): void {
  const { additionalItems: further } = draft;
  delete draft['items'];
  delete draft['additionalItems'];
  if (items.length > 0) draft['prefixItems'] = items;
  if (isRecord(further) || typeof further === 'boolean') draft['items'] = further;
}

function writeBound(draft: Record<string, unknown>, keyword: string, isExclusive: unknown): void {
  const bound = bounds.get(keyword) ?? keyword;
  if (isExclusive !== true || typeof draft[bound] !== 'number') return;
  draft[keyword] = draft[bound];
  delete draft[bound];
}
