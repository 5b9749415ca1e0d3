import { isRecord } from '../../../kit/schema/record.js';
import { joinSchemas } from './join-schemas.js';
import { targetOf } from './pointers.js';
import { isType, type Schema } from './schema-parts.js';

/** An object schema, reduced to its properties. */
export interface ObjectShape {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** Properties that only some branches name, which are taken from those. */
  readonly partial: ReadonlySet<string>;
  /** True if no other properties are allowed. */
  readonly isClosed: boolean;
}

/** Max number of properties that are merged for one schema; further branches are only described in words. */
const maxMerged = 20_000;

/** Reads the branches of a root schema as objects. */
export class ObjectShapes {
  readonly #root: Schema;
  readonly #known = new Map<Schema, ObjectShape | undefined>();
  #merged = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** Shape of a branch, its references and its own branches merged; undefined if no object fits it. */
  of(branch: unknown): ObjectShape | undefined {
    if (!isRecord(branch)) return branch === false ? undefined : anyObject;
    if (this.#known.has(branch)) return this.#known.get(branch);
    if (this.#merged > maxMerged) return anyObject;
    this.#known.set(branch, anyObject); // for a branch that refers to itself
    const shape = this.#read(branch);
    this.#merged += Object.keys(shape?.properties ?? {}).length;
    this.#known.set(branch, shape);
    return shape;
  }

  /** Shape of the objects that fit all branches. */
  all(branches: readonly unknown[]): ObjectShape | undefined {
    return joined(this.#shapes(branches));
  }

  /** Shape that each object of any branch fits. */
  any(branches: readonly unknown[]): ObjectShape | undefined {
    const shapes = this.#shapes(branches).filter((shape) => shape !== undefined);
    return shapes.length === 0 ? undefined : united(shapes);
  }

  #shapes(branches: readonly unknown[]): readonly (ObjectShape | undefined)[] {
    return [...new Set(branches)].map((branch) => (this.#merged > maxMerged ? anyObject : this.of(branch)));
  }

  #read(branch: Schema): ObjectShape | undefined {
    if (branch['type'] !== undefined && !isType(branch['type'], 'object')) return undefined;
    const target = targetOf(branch['$ref'], this.#root);
    const lists = (['anyOf', 'oneOf'] as const)
      .map((name) => branch[name])
      .filter((list) => Array.isArray(list));
    const { allOf } = branch;
    const parts = [
      ownShape(branch),
      isRecord(target) ? this.of(target) : anyObject,
      Array.isArray(allOf) ? this.all(allOf) : anyObject,
      ...lists.map((list) => this.any(list)),
    ];
    return joined(parts);
  }
}

const anyObject: ObjectShape = { properties: {}, required: [], partial: new Set(), isClosed: false };

export function ownShape({
  properties,
  required,
  additionalProperties,
  patternProperties,
}: Schema): ObjectShape {
  return {
    properties: isRecord(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
    partial: new Set(),
    isClosed: additionalProperties === false && patternProperties === undefined,
  };
}

/** Shape of the objects that fit all shapes; undefined if nothing fits one of them. */
export function joined(shapes: readonly (ObjectShape | undefined)[]): ObjectShape | undefined {
  const known = [...new Set(shapes)].filter((shape) => shape !== anyObject);
  const objects = known.filter((shape) => shape !== undefined);
  if (objects.length < known.length) return undefined;
  if (objects.length < 2) return objects[0] ?? anyObject;
  const whole = collect(objects, (shape, name) => !shape.partial.has(name));
  const partial = collect(objects, (shape, name) => shape.partial.has(name) && !whole.has(name));
  return {
    properties: Object.fromEntries([
      ...[...whole].map(([name, schemas]) => [name, joinSchemas([...schemas])] as const),
      ...[...partial].map(([name, schemas]) => [name, anyOf([...schemas])] as const),
    ]),
    required: [...new Set(objects.flatMap(({ required }) => required))],
    partial: new Set(partial.keys()),
    isClosed: objects.some(({ isClosed }) => isClosed),
  };
}

/** Schemas of the properties for which `isMeant`, by name. */
function collect(
  shapes: readonly ObjectShape[],
  isMeant: (shape: ObjectShape, name: string) => boolean,
): Map<string, Set<unknown>> {
  const schemas = new Map<string, Set<unknown>>();
  for (const shape of shapes)
    for (const [name, schema] of Object.entries(shape.properties))
      if (isMeant(shape, name)) schemas.set(name, (schemas.get(name) ?? new Set()).add(schema));
  return schemas;
}

/** Properties of all shapes, each with any of its schemas; only those required by all are required. */
function united(shapes: readonly ObjectShape[]): ObjectShape {
  const schemas = collect(shapes, () => true);
  const named = countNames(shapes, ({ properties, partial }) =>
    Object.keys(properties).filter((name) => !partial.has(name)),
  );
  const demanded = countNames(shapes, ({ required }) => required);
  return {
    properties: Object.fromEntries([...schemas].map(([name, set]) => [name, anyOf([...set])])),
    required: [...demanded].flatMap(([name, count]) => (count === shapes.length ? [name] : [])),
    partial: new Set([...schemas.keys()].filter((name) => named.get(name) !== shapes.length)),
    isClosed: shapes.every(({ isClosed }) => isClosed),
  };
}

function countNames(
  shapes: readonly ObjectShape[],
  namesOf: (shape: ObjectShape) => readonly string[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const shape of shapes)
    for (const name of new Set(namesOf(shape))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function anyOf(schemas: readonly unknown[]): unknown {
  const unique = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  if (unique.length === 1 || unique.some(isAnything)) return unique.find(isAnything) ?? unique[0];
  return { anyOf: unique };
}

function isAnything(schema: unknown): boolean {
  return schema === true || (isRecord(schema) && Object.keys(schema).length === 0);
}
