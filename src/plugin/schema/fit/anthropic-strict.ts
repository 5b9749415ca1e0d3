import type { Changes } from './changes.js';
import { annotations, ObjectMerge } from './merge-objects.js';
import { isRecord } from '../../../kit/schema/record.js';
import { isType, maxDepth, SchemaSizes, without, type Schema } from './schema-parts.js';
import { StrictCheck } from './strict-check.js';
import {
  conditionalNames,
  describesObject,
  hasLiterals,
  impliedType,
  isMap,
  refusedIn,
} from './strict-keywords.js';
import { cutLostRefs, cutRef, invalidRefs } from './strict-refs.js';

type Draft = Record<string, unknown>;

export interface StrictSchema {
  readonly schema: Schema;
  /** False if the schema needs a map, a recursion or a value of any type: `schema` is then narrower than it. */
  readonly isExpressible: boolean;
}

/**
 * A schema in Anthropic's strict subset: objects are closed, refused constraints go into the description,
 * `oneOf` becomes `anyOf`. `isTool`: a root that names no properties takes none.
 */
export function strictCopy(root: Schema, changes: Changes, isTool: boolean): StrictSchema {
  return new StrictCopy(root, changes, isTool).make();
}

/** Max growth of a schema, in schemas, by copies of referenced schemas and of keywords beside branches. */
const maxGrowth = 50_000;

class StrictCopy {
  readonly #root: Schema;
  readonly #changes: Changes;
  readonly #isTool: boolean;
  readonly #invalid: ReadonlySet<Schema>;
  readonly #check: StrictCheck;
  readonly #merge: ObjectMerge;
  readonly #known = new Map<Schema, Schema>();
  #isExpressible = true;

  constructor(root: Schema, changes: Changes, isTool: boolean) {
    this.#root = root;
    this.#changes = changes;
    this.#isTool = isTool;
    this.#invalid = invalidRefs(root);
    this.#check = new StrictCheck(this.#invalid);
    this.#merge = new ObjectMerge(root, this.#invalid);
  }

  make(): StrictSchema {
    const copy = this.#of(this.#root, 0);
    if (copy === this.#root) return { schema: copy, isExpressible: this.#isExpressible };
    const sizes = new SchemaSizes();
    if (sizes.of(copy) > sizes.of(this.#root) + maxGrowth) return this.#empty();
    const schema = cutLostRefs(copy, this.#changes);
    return { schema, isExpressible: this.#isExpressible && schema === copy };
  }

  #empty(): StrictSchema {
    this.#changes.lose('properties');
    return { schema: { type: 'object', properties: {}, additionalProperties: false }, isExpressible: false };
  }

  #of(given: unknown, depth: number, isTyped = false): Schema {
    if (!isRecord(given)) return this.#anything({});
    const known = this.#known.get(given) ?? this.#make(given, depth, isTyped);
    this.#known.set(given, known);
    return known;
  }

  #make(given: Schema, depth: number, isTyped: boolean): Schema {
    if (depth > maxDepth) return this.#anything(given);
    if (this.#check.accepts(given, isTyped)) return given;
    if (this.#invalid.has(given)) return this.#cut(given);
    const node = this.#merge.merged(given);
    if (node === undefined) return this.#anything(given);
    const union = ['anyOf', 'oneOf'].find((name) => Array.isArray(node[name]));
    if (union !== undefined && describesObject(node)) return this.#distributed(node, union, depth);
    return '$ref' in node ? this.#reference(node, depth) : this.#plain(node, union, depth, isTyped);
  }

  /** A value of any type; keeps its description. */
  #anything({ description, ...lost }: Schema): Schema {
    this.#isExpressible = false;
    for (const name of Object.keys(lost)) this.#changes.lose(name);
    return typeof description === 'string' ? { description } : {};
  }

  #cut({ $ref }: Schema): Schema {
    this.#isExpressible = false;
    return cutRef({ $ref }, this.#changes);
  }

  /**
   * Moves the keywords beside the branches into each of them, since a closed object beside them would fit nothing.
   */
  #distributed(node: Schema, union: string, depth: number): Schema {
    const outer = without(node, [union, 'anyOf', 'oneOf', 'allOf', ...annotations]);
    const lost = ['anyOf', 'oneOf', 'allOf'].filter(
      (name) => name in node && (name !== union || name === 'oneOf'),
    );
    for (const name of lost) this.#changes.lose(name);
    const branches = [node[union]].flat().filter((part) => this.#fits(part, outer));
    const isSimple = lost.every((name) => name === union) && branches.length > 0;
    if (!isSimple || !this.#merge.canCopy(outer, branches.length)) {
      this.#isExpressible = false;
      return this.#plain(without(node, ['anyOf', 'oneOf', 'allOf']), undefined, depth, true);
    }
    const kept = Object.entries(node).filter(([name]) => annotations.includes(name));
    const anyOf = branches.map((part) => this.#of(this.#moved(outer, part), depth + 1));
    return this.#withDefinitions({ ...Object.fromEntries(kept), anyOf }, depth);
  }

  /** False for a branch whose type contradicts the keywords beside it. */
  #fits(part: unknown, { type }: Schema): boolean {
    const target = this.#merge.target(part);
    if (!isRecord(target)) return part !== false;
    const own = target['type'];
    return type === undefined || own === undefined || [type].flat().some((name) => isType(own, name));
  }

  #moved(outer: Schema, part: unknown): unknown {
    const target = this.#merge.target(part);
    if (isRecord(target)) {
      const isAlone = Object.keys(outer).join() === 'type' && target['type'] === outer['type'];
      return isAlone ? part : this.#merge.withOuter(target, outer);
    }
    if (target !== true) this.#isExpressible = false;
    return outer;
  }

  /** Keeps the reference alone: the subset refuses keywords beside it. */
  #reference(node: Schema, depth: number): Schema {
    const others = Object.keys(without(node, ['$ref', '$defs', 'definitions']));
    for (const name of others) this.#changes.lose(name);
    return this.#withDefinitions(without(node, others), depth);
  }

  #plain(node: Schema, union: string | undefined, depth: number, isTyped: boolean): Schema {
    const isListed = hasLiterals(node) || union !== undefined || Array.isArray(node['allOf']);
    const type = node['type'] ?? (isListed ? undefined : impliedType(node));
    if (type === undefined && !isListed && !isTyped) return this.#anything(node);
    const draft: Draft = type === node['type'] ? { ...node } : { type, ...node };
    this.#combine(draft, union, depth);
    if (isType(type, 'object')) this.#close(draft, depth);
    else if (isRecord(draft['properties'])) draft['properties'] = this.#named(draft['properties'], depth);
    const { items } = draft;
    if (isRecord(items) || items === true) draft['items'] = this.#of(items, depth + 1);
    const rules = refusedIn(draft);
    return this.#changes.inWords(without(this.#withDefinitions(draft, depth), Object.keys(rules)), rules);
  }

  /**
   * Converts `oneOf` to `anyOf`, and an `allOf` with references too, which the subset refuses. Equivalent only for an
   * `allOf` of a single schema.
   */
  #combine(draft: Draft, union: string | undefined, depth: number): void {
    const name = union ?? (Array.isArray(draft['allOf']) ? 'allOf' : undefined);
    if (name === undefined) return;
    const parts: readonly unknown[] = [draft[name]].flat();
    const hasRefs = name === 'allOf' && parts.some((part) => isRecord(part) && '$ref' in part);
    const isUnmerged = name === 'allOf' && (isType(draft['type'], 'object') || (hasRefs && parts.length > 1));
    const hasObjects =
      name === 'allOf' && parts.length > 1 && parts.some((part) => isRecord(part) && describesObject(part));
    if (isUnmerged || hasObjects) this.#isExpressible = false;
    const fitted = parts.map((part) => this.#of(part, depth + 1, draft['type'] !== undefined));
    const isAny = name === 'oneOf' || hasRefs;
    for (const other of ['anyOf', 'oneOf', 'allOf']) {
      if (other in draft && (other !== name || isAny)) this.#changes.lose(other);
      delete draft[other];
    }
    draft[isAny ? 'anyOf' : name] = fitted;
  }

  #close(draft: Draft, depth: number): void {
    const { properties, additionalProperties: further, required } = draft;
    const known = new Set(isRecord(properties) ? Object.keys(properties) : []);
    const demanded: readonly unknown[] = Array.isArray(required) ? required : [];
    const kept = demanded.filter((name) => known.has(String(name)));
    const hasOthers = further !== false && conditionalNames(draft).some((name) => !known.has(name));
    if (isMap(draft, this.#isTool && depth === 0) || hasOthers || kept.length < demanded.length)
      this.#isExpressible = false;
    if (further !== false) this.#changes.lose('additionalProperties');
    draft['properties'] = this.#named(properties, depth);
    draft['additionalProperties'] = false;
    if (kept.length < demanded.length) draft['required'] = kept;
  }

  #withDefinitions(draft: Schema, depth: number): Schema {
    const found = ['$defs', 'definitions'].filter((name) => isRecord(draft[name]));
    if (found.length === 0) return draft;
    return { ...draft, ...Object.fromEntries(found.map((name) => [name, this.#named(draft[name], depth)])) };
  }

  #named(schemas: unknown, depth: number): Schema {
    const entries = Object.entries(isRecord(schemas) ? schemas : {});
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.#of(schema, depth + 1)]));
  }
}
