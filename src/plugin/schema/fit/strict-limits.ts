import { isRecord } from '../../../kit/schema/record.js';
import { partsOf, type Schema } from './schema-parts.js';

/** Strict schema of one request. */
export interface StrictUse {
  readonly schema: Schema;
  /** Order of relaxation: a caller's tool first, the output format next, the tool of a forced choice last. */
  readonly kind: 'tool' | 'format' | 'forced';
}

interface Load {
  tools: number;
  optional: number;
  unions: number;
}

/** Anthropic's limits over all strict schemas of one request together. */
const limits: Readonly<Load> = { tools: 20, optional: 24, unions: 16 };

/**
 * The uses that stay strict within Anthropic's limits. Above them the last tools are relaxed first, then the output
 * format, then the tool that a choice named.
 */
export function withinStrictLimits<Use extends StrictUse>(uses: readonly Use[]): ReadonlySet<Use> {
  const kept = new Set(uses);
  const loads = new Map(uses.map((use) => [use, loadOf(use)]));
  const sum: Load = { tools: 0, optional: 0, unions: 0 };
  for (const load of loads.values()) add(sum, load, 1);
  for (const kind of ['tool', 'format', 'forced'] as const) {
    for (const use of uses.toReversed()) {
      if (isWithin(sum)) return kept;
      const load = loads.get(use);
      if (use.kind !== kind || !load) continue;
      kept.delete(use);
      add(sum, load, -1);
    }
  }
  return kept;
}

function isWithin(sum: Load): boolean {
  return sum.tools <= limits.tools && sum.optional <= limits.optional && sum.unions <= limits.unions;
}

function add(sum: Load, load: Load, sign: 1 | -1): void {
  sum.tools += sign * load.tools;
  sum.optional += sign * load.optional;
  sum.unions += sign * load.unions;
}

/** Share of a schema in the limits; definitions count once. */
function loadOf({ schema, kind }: StrictUse): Load {
  const load: Load = { tools: kind === 'format' ? 0 : 1, optional: 0, unions: 0 };
  const open = [schema];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    addProperties(at, load);
    open.push(...partsOf(at));
  }
  return load;
}

function addProperties({ properties, required }: Schema, load: Load): void {
  const demanded = new Set(Array.isArray(required) ? required : []);
  for (const [name, part] of Object.entries(isRecord(properties) ? properties : {})) {
    if (!demanded.has(name)) load.optional += 1;
    if (isRecord(part) && (Array.isArray(part['type']) || Array.isArray(part['anyOf']))) load.unions += 1;
  }
}
