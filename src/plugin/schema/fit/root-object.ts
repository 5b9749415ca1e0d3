import type { Changes } from './changes.js';
import { joinSchemas } from './join-schemas.js';
import { targetOf } from './pointers.js';
import { isRecord } from '../../../kit/schema/record.js';
import { without, type Schema } from './schema-parts.js';

/** Replaces a reference at the root by its target; an unresolvable or circular one becomes text. */
export function inlineRootRef(schema: Schema, changes: Changes): Schema {
  if (schema['$ref'] === undefined) return schema;
  const seen = new Set<unknown>([schema]);
  let inlined = schema;
  while (inlined['$ref'] !== undefined) {
    const { $ref } = inlined;
    const rest = without(inlined, ['$ref']);
    const target = targetOf($ref, schema);
    const joined = isRecord(target) && !seen.has(target) && joinSchemas([rest, target]);
    if (!isRecord(joined)) return changes.inWords(rest, { $ref });
    seen.add(target);
    changes.mend('$ref');
    inlined = joined;
  }
  return inlined;
}

/** Makes `type: object` of any other root, since arguments are an object. */
export function declareRootObject(schema: Schema, changes: Changes): Schema {
  if (schema['type'] === 'object') return schema;
  changes.mend('type');
  return { type: 'object', ...without(schema, ['type']) };
}

/** Adds the properties that are missing from a root. */
export function declareProperties(schema: Schema, changes: Changes): Schema {
  if (isRecord(schema['properties'])) return schema;
  changes.mend('properties');
  return { ...schema, properties: {} };
}

const refused = ['not', 'enum', 'const'] as const;

/** Turns root rules that OpenAI refuses into text. */
export function dropRootRules(schema: Schema, changes: Changes): Schema {
  const rules = refused.filter((name) => schema[name] !== undefined);
  if (rules.length === 0) return schema;
  return changes.inWords(
    without(schema, refused),
    Object.fromEntries(rules.map((name) => [name, schema[name]])),
  );
}
