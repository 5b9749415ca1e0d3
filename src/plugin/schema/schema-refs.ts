import { isRecord } from './record.js';

type Draft = Record<string, unknown>;

/**
 * Replaces references that lead nowhere, or back to where they came from, since the upstream accepts no
 * recursion. Returns false if it replaced any.
 */
export function cutUnsoundRefs(root: Draft): boolean {
  return new Walk(root).isSound(root, 0);
}

/** Inlines the root reference of a schema (`$ref` into itself); any other schema is returned unchanged. */
export function withoutRootRef(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const target = targetOf(schema['$ref'], schema);
  if (!target || target === schema) return schema;
  const { $ref: _, ...rest } = schema;
  return { ...rest, ...target };
}

/** Max nesting depth, references included. */
const maxDepth = 500;

class Walk {
  readonly #root: Draft;
  /** Visited schemas; true while the walk is still inside one. */
  readonly #isOpen = new Map<Draft, boolean>();

  constructor(root: Draft) {
    this.#root = root;
  }

  isSound(schema: Draft, depth: number): boolean {
    if (this.#isOpen.has(schema)) return true;
    this.#isOpen.set(schema, true);
    let isSound = true;
    for (const part of partsOf(schema)) isSound = this.isSound(part, depth + 1) && isSound;
    if ('$ref' in schema) isSound = this.#follow(schema, depth) && isSound;
    this.#isOpen.set(schema, false);
    return isSound;
  }

  #follow(schema: Draft, depth: number): boolean {
    const target = targetOf(schema['$ref'], this.#root);
    if (target && this.#isOpen.get(target) !== true && depth < maxDepth)
      return this.isSound(target, depth + 1);
    cut(schema);
    return false;
  }
}

function targetOf(ref: unknown, root: Readonly<Record<string, unknown>>): Draft | undefined {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const key of ref.slice(1).split('/').slice(1)) at = childOf(at, key);
  return isDraft(at) ? at : undefined;
}

function childOf(parent: unknown, key: string): unknown {
  const name = decoded(key).replaceAll('~1', '/').replaceAll('~0', '~');
  if (Array.isArray(parent)) return parent[Number(name)];
  return isRecord(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key; // a literal percent sign
  }
}

/** Replaces a reference by an empty object schema, whose description keeps the reference. */
function cut(schema: Draft): void {
  const description = `{$ref: ${JSON.stringify(schema['$ref'])}}`;
  delete schema['$ref'];
  Object.assign(schema, { type: 'object', description, properties: {}, additionalProperties: false });
}

function* partsOf(schema: Draft): Iterable<Draft> {
  for (const name of ['properties', '$defs', 'definitions']) yield* draftsIn(schema[name]);
  for (const name of ['anyOf', 'allOf']) yield* draftsIn(schema[name]);
  if (isDraft(schema['items'])) yield schema['items'];
}

function draftsIn(schemas: unknown): readonly Draft[] {
  return typeof schemas === 'object' && schemas !== null ? Object.values(schemas).filter(isDraft) : [];
}

/** Type guard for a schema copy that may be modified: the walk only meets objects made by `strictSchema`. */
function isDraft(value: unknown): value is Draft {
  return isRecord(value);
}
