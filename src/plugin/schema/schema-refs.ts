import { isRecord } from './record.js';

type Draft = Record<string, unknown>;

/**
 * Walks a schema along its references and cuts those that lead nowhere, or back to where the walk came from: the upstream
 * takes no recursion. Gives false where it had to cut one.
 */
export function cutUnsoundRefs(root: Draft): boolean {
  return new Walk(root).isSound(root, 0);
}

/** A schema whose root is a reference into itself, with the fields of what is referred to in its place. */
export function withoutRootRef(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const target = targetOf(schema['$ref'], schema);
  if (!target || target === schema) return schema;
  const { $ref: _, ...rest } = schema;
  return { ...rest, ...target };
}

/** Schemas within schemas, references followed. */
const maxDepth = 500;

class Walk {
  readonly #root: Draft;
  /** The schemas that the walk has come to; true while it is still inside one. */
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
    return key; // a percent sign that means itself
  }
}

/** Replaces a reference by an object of nothing whose description says so. */
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

/** The walk only meets what `strictSchema` has made. */
function isDraft(value: unknown): value is Draft {
  return isRecord(value);
}
