import { joinSchemas } from './join-schemas.js';
import { targetOf } from './pointers.js';
import { isRecord } from '../../../kit/schema/record.js';
import { isType, maxDepth, SchemaSizes, without, type Schema } from './schema-parts.js';
import { describesObject } from './strict-keywords.js';

/** Annotation keywords of a schema. */
export const annotations: readonly string[] = [
  'title',
  'description',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
];

/** Max number of schemas that are copied, since a reference or a branch takes them in. */
const maxCopies = 20_000;

/** Merges object schemas that are combined, since closed objects beside each other would fit nothing. */
export class ObjectMerge {
  readonly #root: Schema;
  readonly #invalid: ReadonlySet<Schema>;
  readonly #sizes = new SchemaSizes();
  readonly #known = new Map<Schema, Schema | undefined>();
  #copies = 0;

  /** `invalid`: schemas with an unresolvable reference. */
  constructor(root: Schema, invalid: ReadonlySet<Schema>) {
    this.#root = root;
    this.#invalid = invalid;
  }

  /**
   * An `allOf` of objects, and the keywords beside a reference to an object, as one schema; the given one if there is
   * nothing to merge. Undefined if it is nested too deeply, or copied too often.
   */
  merged(given: Schema): Schema | undefined {
    if (!this.#known.has(given)) this.#known.set(given, this.#merge(given));
    return this.#known.get(given);
  }

  /**
   * Target of the reference of a branch, or the branch itself without one; undefined for an unresolvable reference.
   */
  target(part: unknown): unknown {
    let at = part;
    for (let step = 0; step < maxDepth; step += 1) {
      if (!isRecord(at) || at['$ref'] === undefined) return at;
      if (this.#invalid.has(at)) return undefined;
      const isAlone = Object.keys(at).every((name) => name === '$ref' || annotations.includes(name));
      const next = isAlone ? targetOf(at['$ref'], this.#root) : this.merged(at);
      if (next === at) return undefined;
      at = next;
    }
    return undefined;
  }

  /** False if schemas would be copied too often: `schema` so many times. */
  canCopy(schema: Schema, times: number): boolean {
    const { required } = schema;
    this.#copies += times * (this.#sizes.of(schema) + (Array.isArray(required) ? required.length : 0));
    return this.#copies <= maxCopies;
  }

  /** A branch together with the keywords beside it; a closed object beside it does not close the branch. */
  withOuter(branch: Schema, outer: Schema): Schema {
    const isLoose = outer['additionalProperties'] === false && !('additionalProperties' in branch);
    const beside = isLoose ? without(outer, ['additionalProperties']) : outer;
    return join([without(branch, ['$defs', 'definitions']), beside]);
  }

  #merge(given: Schema): Schema | undefined {
    let node = given;
    for (let round = 0; round < maxDepth; round += 1) {
      const { parts, referred } = this.#partsToMerge(node);
      if (parts.length === 0) return node;
      if (!referred.every((part) => this.canCopy(part, 1))) return undefined;
      node = join([without(node, ['$ref', 'allOf']), ...parts]);
    }
    return undefined;
  }

  /** Schemas that `$ref` and `allOf` combine; `referred`: those of other places. */
  #partsToMerge({ $ref, allOf, ...rest }: Schema): Parts {
    const target = targetOf($ref, this.#root);
    const refs = isRecord(target) ? [target] : [];
    if (!Array.isArray(allOf)) return describesObject(rest) ? { parts: refs, referred: refs } : none;
    const targets = [...new Set(allOf.map((part) => this.target(part)))];
    const objects = targets.filter(isObject);
    const isSingle = allOf.length === 1 && refs.length === 0 && !describesObject(rest);
    if (objects.length < targets.length || isSingle) return none;
    const referred = [...refs, ...objects.filter((part) => !allOf.includes(part))];
    return { parts: [...refs, ...objects], referred };
  }
}

interface Parts {
  readonly parts: readonly Schema[];
  readonly referred: readonly Schema[];
}

const none: Parts = { parts: [], referred: [] };

function join([first, ...others]: readonly [Schema, ...Schema[]]): Schema {
  const joined = joinSchemas([first, ...others.map((schema) => without(schema, annotations))]);
  return isRecord(joined) ? joined : first;
}

function isObject(part: unknown): part is Schema {
  return isRecord(part) && describesObject(part) && isType(part['type'] ?? 'object', 'object');
}
