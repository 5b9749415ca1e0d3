import type { Changes } from './changes.js';
import { targetOf } from './pointers.js';
import { isType, loosenParts, maxDepth, without, type Schema } from './schema-parts.js';

/** Adds `items` to arrays without, at any depth, and puts references to nothing into words. */
export function mendNodes(root: Schema, changes: Changes): Schema {
  const mend = (schema: Schema, depth: number): Schema => {
    const mapped = depth < maxDepth ? loosenParts(schema, (part) => mend(part, depth + 1)) : schema;
    return withItems(withoutLostRef(mapped, root, changes), changes);
  };
  return mend(root, 0);
}

function withItems(schema: Schema, changes: Changes): Schema {
  const { type, items, prefixItems } = schema;
  if (!isType(type, 'array') || (items ?? prefixItems ?? undefined) !== undefined) return schema;
  changes.mend('items');
  return { ...schema, items: {} };
}

function withoutLostRef(schema: Schema, root: Schema, changes: Changes): Schema {
  const { $ref } = schema;
  if ($ref === undefined || targetOf($ref, root) !== undefined) return schema;
  return changes.inWords(without(schema, ['$ref']), { $ref });
}
