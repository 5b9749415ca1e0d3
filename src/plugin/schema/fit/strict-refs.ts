import type { Changes } from './changes.js';
import { targetOf } from './pointers.js';
import { isRecord } from '../../../kit/schema/record.js';
import { mapParts, maxDepth, partsOf, type Schema } from './schema-parts.js';

/** Max nesting depth, references included. */
const maxRefDepth = 500;

/** Schemas with an unresolvable or recursive reference, since Anthropic's strict subset has no recursion. */
export function invalidRefs(root: Schema): ReadonlySet<Schema> {
  const invalid = new Set<Schema>();
  /** Visited schemas; true while the walk is still inside one. */
  const isOpen = new Map<Schema, boolean>();
  const walk = (schema: Schema, depth: number): void => {
    if (isOpen.has(schema)) return;
    isOpen.set(schema, true);
    if (depth < maxRefDepth) for (const part of partsOf(schema)) walk(part, depth + 1);
    if (schema['$ref'] !== undefined) follow(schema, depth);
    isOpen.set(schema, false);
  };
  const follow = (schema: Schema, depth: number): void => {
    const target = targetOf(schema['$ref'], root);
    if (isRecord(target) && isOpen.get(target) !== true && depth < maxRefDepth) walk(target, depth + 1);
    else invalid.add(schema);
  };
  walk(root, 0);
  return invalid;
}

/** Removes references whose targets have moved; the given schema if there are none. */
export function cutLostRefs(root: Schema, changes: Changes): Schema {
  const known = new Map<Schema, Schema>();
  const cut = (schema: Schema, depth: number): Schema => {
    const done = known.get(schema);
    if (done) return done;
    const mapped = depth < maxDepth ? mapParts(schema, (part) => cut(part, depth + 1)) : schema;
    const isLost = mapped['$ref'] !== undefined && !isRecord(targetOf(mapped['$ref'], root));
    const result = isLost ? cutRef(mapped, changes) : mapped;
    known.set(schema, result);
    return result;
  };
  return cut(root, 0);
}

/** An empty object instead of a reference, which is kept in its description. */
export function cutRef({ $ref, $defs, definitions }: Schema, changes: Changes): Schema {
  const empty = { type: 'object', properties: {}, additionalProperties: false };
  const kept = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return changes.inWords({ ...kept, ...empty }, { $ref });
}
