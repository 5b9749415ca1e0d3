import { isRecord } from '../../../kit/schema/record.js';
import { isType, maxDepth, partsOf, type Schema } from './schema-parts.js';
import { hasLiterals, refusedIn } from './strict-keywords.js';

/** Finds the parts of a schema that Anthropic's strict subset accepts unchanged. */
export class StrictCheck {
  readonly #invalid: ReadonlySet<Schema>;
  readonly #known = { typed: new Map<Schema, boolean>(), untyped: new Map<Schema, boolean>() };

  /** `invalid`: schemas whose reference the subset refuses. */
  constructor(invalid: ReadonlySet<Schema>) {
    this.#invalid = invalid;
  }

  /**
   * `isTyped`: the schema around this one declares the type. `depth` is not part of what is known: the root comes first,
   * and what lies too deep in it stays refused.
   */
  accepts(schema: Schema, isTyped = false, depth = 0): boolean {
    const results = this.#known[isTyped ? 'typed' : 'untyped'];
    const known = results.get(schema);
    if (known !== undefined) return known;
    results.set(schema, false); // for a schema that holds itself
    const accepted = depth <= maxDepth && this.#acceptsAnew(schema, isTyped, depth);
    results.set(schema, accepted);
    return accepted;
  }

  #acceptsAnew(schema: Schema, isTyped: boolean, depth: number): boolean {
    if (schema['$ref'] !== undefined && !this.#acceptsRef(schema)) return false;
    if (schema['oneOf'] !== undefined || Object.keys(refusedIn(schema)).length > 0) return false;
    if (hasBooleans(schema) || hasRefsInAllOf(schema)) return false;
    if (isType(schema['type'], 'object') && schema['additionalProperties'] !== false) return false;
    const declares = isTyped || declaresType(schema);
    const inner = isTyped || schema['type'] !== undefined;
    const branches = new Set([schema['anyOf'], schema['allOf']].flat());
    return (
      declares &&
      [...partsOf(schema)].every((part) => this.accepts(part, inner && branches.has(part), depth + 1))
    );
  }

  /** True for a valid reference without keywords beside it, which the subset refuses. */
  #acceptsRef(schema: Schema): boolean {
    if (this.#invalid.has(schema)) return false;
    return Object.keys(schema).every((name) => name === '$ref' || name === '$defs' || name === 'definitions');
  }
}

function declaresType(schema: Schema): boolean {
  return hasLiterals(schema) || ['type', '$ref', 'anyOf', 'allOf'].some((name) => schema[name] !== undefined);
}

/** True if `true` or `false` stands instead of a schema: a value of any type, or none. */
function hasBooleans({ properties, items, anyOf, allOf }: Schema): boolean {
  const listed = [anyOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const parts = [...(isRecord(properties) ? Object.values(properties) : []), ...listed];
  return items === true || !parts.every(isRecord);
}

function hasRefsInAllOf({ allOf }: Schema): boolean {
  return Array.isArray(allOf) && allOf.some((part) => isRecord(part) && '$ref' in part);
}
