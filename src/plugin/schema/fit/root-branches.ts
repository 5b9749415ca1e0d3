import type { Changes } from './changes.js';
import { joined, ObjectShapes, ownShape, type ObjectShape } from './object-shape.js';
import { isRecord } from '../../../kit/schema/record.js';
import { without, type Schema } from './schema-parts.js';

const combining = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * Merges the branches of a root schema into it, since both vendors refuse them there and MCP allows them. Every
 * object that fits the schema and holds only properties that its branch names fits the merged one.
 */
export function mergeRootBranches(schema: Schema, changes: Changes): Schema {
  if (!combining.some((name) => name in schema)) return schema;
  const shapes = new ObjectShapes(schema);
  const words: Record<string, unknown> = {};
  const rest = without(schema, combining);
  const found = [ownShape(rest)];
  for (const name of combining) {
    if (!(name in schema)) continue;
    const branches = [schema[name]].flat();
    const shape = name === 'allOf' ? shapes.all(branches) : shapes.any(branches);
    if (shape) found.push(shape);
    if (name === 'allOf' && branches.every(isPlainObject)) changes.mend(name);
    else words[name] = branches.map((branch) => inShort(branch, shapes));
  }
  return changes.inWords(withShape(rest, joined(found)), words);
}

function withShape(schema: Schema, shape: ObjectShape | undefined): Schema {
  if (!shape) return schema;
  const { properties, required, isClosed } = shape;
  return {
    ...schema,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(isClosed && { additionalProperties: false }),
  };
}

const objectKeywords: ReadonlySet<string> = new Set(
  'type properties required additionalProperties title description'.split(' '),
);

/** True for a branch that loses nothing in the merged schema. */
function isPlainObject(branch: unknown): boolean {
  return isRecord(branch) && Object.keys(branch).every((keyword) => objectKeywords.has(keyword));
}

/** A branch as text: the names of its properties, the required ones, and fixed values. */
function inShort(branch: unknown, shapes: ObjectShapes): unknown {
  const shape = shapes.of(branch);
  if (!shape || Object.keys(shape.properties).length === 0) return branch;
  const fixed = Object.entries(shape.properties).flatMap(([name, schema]) =>
    isRecord(schema) && schema['const'] !== undefined ? [[name, schema['const']] as const] : [],
  );
  return {
    properties: Object.keys(shape.properties),
    ...(shape.required.length > 0 && { required: shape.required }),
    ...(fixed.length > 0 && { const: Object.fromEntries(fixed) }),
  };
}
